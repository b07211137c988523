"""The answer: what a person gets, and everything a person does with it.

==============  ===================================================================================
``sheet``       a table with notes, as text and as HTML: the one layout of everything printed
``columns``     numbers with labels and ends, as frames of any library and as an Arrow stream
``history``     what was asked so far, a line each
``answer``      what every answer can do: print, become a number, an array, a frame, JSON
``release``     a published value with its cost, and what it asks of that which drew it
==============  ===================================================================================
"""

from sourdine.release.answer import Answer
from sourdine.release.columns import Columns, beside
from sourdine.release.history import History
from sourdine.release.release import (
    SHOWN,
    Drawer,
    Release,
    beta_of,
    read_confidence,
    read_drawer,
)
from sourdine.release.sheet import Sheet, Shown

__all__ = [
    "SHOWN",
    "Answer",
    "Columns",
    "Drawer",
    "History",
    "Release",
    "Sheet",
    "Shown",
    "beside",
    "beta_of",
    "read_confidence",
    "read_drawer",
]
