"""Floor 1: bytes to units and back. No meaning is read here, and nothing is ever re-encoded."""
