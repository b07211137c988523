"""What Sourdine raises.

::

    SourdineError
     ├── ParameterError      (also a ValueError)   a parameter has a value that cannot be
     ├── ParameterTypeError  (also a TypeError)    a parameter is of a kind that cannot be
     └── BudgetExceededError                       a request would spend more than is left

Every text reads "X must be C, got V. Hint". Errors speak of parameters only; no text ever holds a
value of the private data, and no condition of the data raises.
"""

from __future__ import annotations

__all__ = ["BudgetExceededError", "ParameterError", "ParameterTypeError", "SourdineError"]


class SourdineError(Exception):
    """The root of the tree."""


class ParameterError(SourdineError, ValueError):
    """A parameter has a value that cannot be."""


class ParameterTypeError(SourdineError, TypeError):
    """A parameter is of a kind that cannot be."""


class BudgetExceededError(SourdineError):
    """A request would spend more than the budget has left; nothing was spent."""
