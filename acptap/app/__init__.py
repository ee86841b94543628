"""Floor 5: the only place where the core and the edges meet. One package a task."""
