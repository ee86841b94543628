"""The Agent-User Interaction Protocol (AG-UI), version 1.0: what was said, and what it means."""
