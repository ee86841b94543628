"""A small agent and a small client, for `acptap demo` and for trying things without a model."""
