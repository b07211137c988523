"""A session on data that lie on a server: the same calls, from afar."""

from sourdine.client.remote import Remote
from sourdine.client.session import RemoteSession

__all__ = ["Remote", "RemoteSession"]
