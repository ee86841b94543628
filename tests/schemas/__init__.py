"""The tables of methods and updates, held against what the official SDKs take for valid."""
