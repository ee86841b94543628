"""Floor 4: where bytes enter and leave. Nothing here knows what they mean."""
