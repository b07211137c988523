"""One sample, ten thousand questions, each of which may follow from the answers before it."""

from sourdine.adaptive.server.left import Left
from sourdine.adaptive.server.report import report
from sourdine.adaptive.server.server import QueryServer
from sourdine.adaptive.server.universe import Universe

__all__ = ["Left", "QueryServer", "Universe", "report"]
