"""Clients and agents on the official SDKs, to be run as processes by the end-to-end tests."""
