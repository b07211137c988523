"""One (epsilon, delta) for hundreds of answers, certified.

A `Part` says what one answer can lose. `compose` gives the curve of a batch declared ahead, with
two certified ends; a `Filter` admits charges one by one, however each is chosen.

===============  ===================================================================================
``composition``  the certified privacy curve of a batch that is declared ahead
``filter``       which charges fit into a total, however each is chosen after the earlier answers
``losses``       distributions of privacy losses: on a lattice, as pairs of laws, of bounded range
``parts``        the parts of a privacy loss, their price at one Renyi order, and lists of parts
===============  ===================================================================================
"""

from sourdine.privacy.accounting.composition import Composition, Ends, compose
from sourdine.privacy.accounting.filter import Filter
from sourdine.privacy.accounting.parts import Part

__all__ = ["Composition", "Ends", "Filter", "Part", "compose"]
