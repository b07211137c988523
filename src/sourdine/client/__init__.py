"""Sessions and leaderboards on data that lie on a server: the same calls, from afar."""

from sourdine.client.guard import RemoteGuard
from sourdine.client.session import Remote, RemoteSession

__all__ = ["Remote", "RemoteGuard", "RemoteSession"]
