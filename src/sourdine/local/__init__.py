"""Local privacy: nobody ever holds the answers in the clear.

Each person's answers are randomised before they leave their hands; what many people sent is then
estimated, with intervals. A `Schema` says what may be answered and what a record may cost:

==================  ===============================================================================
``table``           a schema of columns: sanitise a table, or draw reports, and estimate from them
``reports``         the reports of many people on their way: a wire format, and what adds them up
``rounds``          people who are asked again and again: memories, total costs, series
``densities``       the density of a number, by wavelets, bins or waves
``learn``           learning from sanitised tables, with scikit-learn (an extra)
``shuffling``       what reports are worth once nobody knows who sent which
``categorical``     the randomisers of a category
``numeric``         the randomisers of a number
``estimators``      what the reports of one question tell
==================  ===============================================================================
"""

from sourdine.local.densities.call import density
from sourdine.local.densities.density import Density
from sourdine.local.reports.aggregator import Aggregator
from sourdine.local.shuffling import shuffled, shuffled_allowance
from sourdine.local.table.columns import Choice, Choices, Flag, Number
from sourdine.local.table.counting import estimate
from sourdine.local.table.estimates import Estimates
from sourdine.local.table.schema import Schema

__all__ = [
    "Aggregator",
    "Choice",
    "Choices",
    "Density",
    "Estimates",
    "Flag",
    "Number",
    "Schema",
    "density",
    "estimate",
    "shuffled",
    "shuffled_allowance",
]
