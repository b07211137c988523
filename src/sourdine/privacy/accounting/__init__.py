"""One (epsilon, delta) for hundreds of answers, certified.

A `Part` describes what one answer can lose. `compose` gives the curve of a batch declared ahead,
with two certified ends; a `Filter` admits charges one by one, even if they are chosen adaptively.

===============  ===================================================================================
``composition``  the certified privacy curve of a batch of answers that is declared ahead
``filter``       privacy filters: which adaptively chosen charges fit into a total
``losses``       distributions of privacy losses: dominating pairs, bounded range, and lattices
``parts``        the parts of a privacy loss, their price at one Rényi order, and lists of parts
===============  ===================================================================================
"""

from sourdine.privacy.accounting.composition import Composition, compose
from sourdine.privacy.accounting.filter import Filter
from sourdine.privacy.accounting.parts import Part

__all__ = ["Composition", "Filter", "Part", "compose"]
