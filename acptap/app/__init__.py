"""Floor 5: the only place where the core and the edges meet. One module a task."""
