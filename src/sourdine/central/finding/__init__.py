"""Parameters that nobody knows, found privately: bounds, and how many rows of a person to keep.

================  ==================================================================================
``candidates``    which bounds may be named: public numbers outward from a centre
``centre``        a rough median on the lattice of octaves, round numbers first
``search``        the first candidate that few records pass, on each side
``first``         a question of which something is found first: ``bounds`` or ``rows``
================  ==================================================================================
"""

from sourdine.central.finding.bounds import BoundsFirst
from sourdine.central.finding.candidates import Candidates
from sourdine.central.finding.centre import Centre
from sourdine.central.finding.first import FoundFirst
from sourdine.central.finding.rows import RowsFirst
from sourdine.central.finding.search import OutwardSearch

__all__ = ["BoundsFirst", "Candidates", "Centre", "FoundFirst", "OutwardSearch", "RowsFirst"]
