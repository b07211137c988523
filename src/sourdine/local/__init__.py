r"""Local privacy: nobody ever holds the answers in the clear.

Each person's answers are randomised before they leave their hands; what many people sent is then
estimated, with intervals. A `Schema` says what may be answered and what a record may cost:

===============  ===================================================================================
``categorical``  randomisers of a category: each answer protects its own person
``densities``    densities from values that nobody ever held in the clear
``designs``      designs: the best local channel for a question, found by convex optimisation
``estimators``   estimators: what the reports of many people tell, and how surely
``learn``        learning from randomised tables, for scikit-learn (``pip install '.[learn]'``)
``numeric``      randomisers of a number: one tick of a public grid, as a report that betrays little
                 of it
``reports``      reports on their way: a record of one person's randomised answers, and what adds
                 them up
``rounds``       surveys of several rounds: a person who is asked again and again keeps one total
``shuffling``    amplification by shuffling: what reports cost when nobody knows who sent which
``spark``        local privacy on a cluster: records randomised where they are, reports added up
                 where they lie
``table``        tables: a schema of columns, and records that are randomised before anybody sees
                 them
===============  ===================================================================================

A report is :math:`\varepsilon`-LDP if no two answers of one person change the probability of any
report by more than a factor of :math:`e^\varepsilon` [1]_ [2]_.

References
----------
.. [1] J. Duchi, M. Jordan, M. Wainwright, "Local privacy and statistical minimax rates", FOCS 2013.
.. [2] J.-F. Couchot, slides on local privacy of tables, 2023 (row L1).
"""

from sourdine.local.densities.call import density
from sourdine.local.densities.density import Density
from sourdine.local.designs.design import Design, design
from sourdine.local.reports.aggregator import Aggregator
from sourdine.local.shuffling import shuffled, shuffled_allowance
from sourdine.local.table.columns import Choice, Choices, Flag, Number
from sourdine.local.table.estimates import Estimates
from sourdine.local.table.schema import Schema, estimate

__all__ = [
    "Aggregator",
    "Choice",
    "Choices",
    "Density",
    "Design",
    "Estimates",
    "Flag",
    "Number",
    "Schema",
    "density",
    "design",
    "estimate",
    "shuffled",
    "shuffled_allowance",
]
