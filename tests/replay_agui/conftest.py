"""The server of the neighbours."""

from tests.replay_network.conftest import serve

__all__ = ["serve"]
