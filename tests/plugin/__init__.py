"""Test suites inside tests: what a user's own suite sees of the plugin."""
