"""Tables: a schema of columns, and records that are randomised before anybody sees them."""

from sourdine.local.table.columns import Choice, Flag, Number
from sourdine.local.table.estimating.counting import estimate
from sourdine.local.table.estimating.estimates import Estimates
from sourdine.local.table.schema import Schema
from sourdine.local.table.several import Choices

__all__ = ["Choice", "Choices", "Estimates", "Flag", "Number", "Schema", "estimate"]
