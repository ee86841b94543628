"""Random conversations that speak the grammar, and what must hold whatever is said."""
