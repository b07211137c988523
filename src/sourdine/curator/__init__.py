"""For the eyes of whoever holds the data: what stands in it, before anything is published."""

from sourdine.curator.check import Checked, ColumnFacts, check

__all__ = ["Checked", "ColumnFacts", "check"]
