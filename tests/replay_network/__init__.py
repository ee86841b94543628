"""Cassettes served over HTTP and WebSocket."""
