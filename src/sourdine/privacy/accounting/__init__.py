"""One (epsilon, delta) for hundreds of answers, certified.

A `Part` describes what one answer can lose. `compose` gives the curve of a batch declared ahead,
with two certified ends; a `Filter` admits charges one by one, even if they are chosen adaptively.
"""

from sourdine.privacy.accounting.composition import Composition, Ends, compose
from sourdine.privacy.accounting.filter import Filter, best_order
from sourdine.privacy.accounting.parts import (
    Part,
    of_any_shift,
    of_promise,
    on_sample,
    plain,
    read_parts,
    replaced,
    widest,
)

__all__ = [
    "Composition",
    "Ends",
    "Filter",
    "Part",
    "best_order",
    "compose",
    "of_any_shift",
    "of_promise",
    "on_sample",
    "plain",
    "read_parts",
    "replaced",
    "widest",
]
