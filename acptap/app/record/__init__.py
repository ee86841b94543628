"""Record an agent, and take secrets out of what was recorded."""
