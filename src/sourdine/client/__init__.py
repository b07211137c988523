"""Sessions and leaderboards on data that lie on a server: the same calls, from afar."""

from sourdine.client.session import Remote

__all__ = ["Remote"]
