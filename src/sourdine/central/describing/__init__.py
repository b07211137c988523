"""The shape of a table that nobody described."""

from sourdine.central.describing.describe import Describe

__all__ = ["Describe"]
