"""Replay of AG-UI: recorded runs are found for live requests, and told with live ids."""
