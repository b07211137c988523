"""Audits: claims of privacy and accuracy, checked by machine.

`registered` finds a specimen of every mechanism of the library. `worst_case` compares the exact
laws of all neighbours, `range` and `curve` hold them against the parts of the loss, `replay` runs a
whole call on two data sets, `p_value` holds draws against their law, the attacks look for what is
not in the mathematics, and `checks` is the suite that every mechanism passes.

==============  ====================================================================================
``checks``      the conformance suite that every mechanism passes, and its table
``curves``      ranges and whole curves: what a mechanism says of its loss, held against its exact
                laws
``discovery``   every mechanism of the library, found by looking, not by a list kept by hand
``engines``     one suite for every engine: the counts are those of the values read one by one
``exhaustive``  exact worst cases, draws against the law, and replay of whole calls
==============  ====================================================================================
"""

from sourdine.audit.checks import Row, audit_row, precision_attack
from sourdine.audit.curves import curve
from sourdine.audit.curves import range_of_losses as range  # noqa: A004 - as mechanisms speak of it
from sourdine.audit.discovery import chosen, every_mechanism, registered, unaudited
from sourdine.audit.exhaustive import p_value, replay, worst_case

__all__ = [
    "Row", "audit_row", "chosen", "curve", "every_mechanism", "p_value", "precision_attack",
    "range", "registered", "replay", "unaudited", "worst_case",
]  # fmt: skip
