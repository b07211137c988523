"""The sentences that hold for every report: what the library does, and what it does not cover."""

from __future__ import annotations

__all__ = [
    "CLAMPED",
    "COLLECTED",
    "COMPOSED",
    "DECLARED",
    "HOUSEHOLDS",
    "IMPLEMENTED",
    "KEPT",
    "READING",
    "SOURCES",
    "TOTAL",
    "TRUSTED",
    "UNANSWERED",
    "VARIANTS",
]

TOTAL = (
    "The total is the promise to report: it holds whatever is asked until it is used up. Two "
    "ledgers on the same people add up, as does everything that was published about them by other "
    "means."
)
HOUSEHOLDS = (
    "Records that say the same about somebody, such as those of a household, are protected "
    "together only where they are one unit."
)
_CHARGED = (
    "Each call is charged before anything is drawn, and refused if the total would be passed; that "
    "holds however each question was chosen after earlier answers. Groups of which a record is in "
    "one at most are charged once."
)
COMPOSED = {
    "sum": "Composition: the sum of all epsilons, and of all deltas, as exact fractions. "
    f"{_CHARGED}",
    "renyi": "Composition: a filter at one Rényi order, fixed when the ledger was opened (Feldman "
    "and Zrnic 2021), beside the sum of all epsilons: a call is admitted by either. Each is "
    f"charged a price from the parts of its loss, rounded up. {_CHARGED}",
    "rho": "Composition: the sum of the zero-concentrated prices of the parts of each loss, "
    f"rounded up (Bun and Steinke 2016). {_CHARGED}",
}
DECLARED = (
    "Here the charges were declared as one batch before the first answer, and admitted together "
    "by the certified curve of all their losses (Zhu, Dong and Wang 2022), not by the filter: they "
    "are the whole of the total, and nothing is left."
)
VARIANTS = {
    "pure": "Pure differential privacy: delta is 0.",
    "approximate": "Approximate differential privacy: delta is the chance that is not covered by "
    "epsilon.",
    "concentrated": "Zero-concentrated differential privacy: epsilon and delta are what its rho "
    "implies.",
}
UNANSWERED = (
    "A charge without an answer counts in full: the process ended between the two, or the session "
    "was told not to keep answers."
)
CLAMPED = (
    "Values outside the bounds count as the nearest bound and are rounded to the step; that biases "
    "sums and means where much lies beyond, and intervals do not cover it. Bounds, steps, "
    "categories and groups that were given are taken to have been chosen without looking at the "
    "data; the library cannot check that."
)
READING = (
    "Each release is given with the interval in which the statistic of the records at hand lies "
    "with the probability stated, so noise alone is covered; where several numbers stand in one "
    "table, it holds for all of them together unless a note says otherwise."
)
TRUSTED = (
    "Central model: whoever runs the session holds the raw data and is trusted with them. Those "
    "who see the releases need not be trusted, whatever else they know and however much they "
    "compute; what they learn about one unit is bounded as above. Everything that several of them "
    "see is charged to the one total, so they may share it."
)
FLOATS = (
    "Inputs are whole multiples of a public step and sums are whole numbers; noise is drawn "
    "exactly from its law, and what is published lies on the public grid. Where weights of "
    "candidates are floats, their rounding error is bounded and paid for within epsilon."
)
TIME = (
    "Drawing noise takes a time that does not depend on the noise, up to 20 000 draws at a time. "
    "How long it takes to read data, or to select among candidates, does depend on the data: let "
    "nobody untrusted time it."
)
UNCOVERED = "Memory, swap files, other users of the machine, and copies of the data elsewhere."
IMPLEMENTED = {
    "Floating point": FLOATS,
    "Randomness": "The operating system's generator, through OpenSSL. A session takes no seed.",
    "Time": TIME,
    "Errors": "No error, warning or note depends on a value of the data.",
    "Not covered": UNCOVERED,
}
KEPT = (
    "The ledger only grows, and each of its lines carries a check of all before it. That guards "
    "against accidents, not against whoever may write the file. It holds questions, costs and "
    "released answers, and nothing else of the data."
)
COLLECTED = (
    "What was exposed when the data were collected, moved and stored is outside the promise of any "
    "release."
)
NIST = (
    "J. Near, D. Darais, N. Lefkovitz, G. Howarth, Guidelines for Evaluating Differential Privacy "
    "Guarantees, NIST Special Publication 800-226, March 2025, doi:10.6028/NIST.SP.800-226: the "
    "headings of this report follow it."
)
DEFINITION = (
    "C. Dwork, F. McSherry, K. Nissim, A. Smith, Calibrating noise to sensitivity in private data "
    "analysis, TCC 2006: the definition."
)
FILTER = (
    "R. Rogers, A. Roth, J. Ullman, S. Vadhan, Privacy odometers and filters, NeurIPS 2016: a "
    "fixed total holds even if each request is chosen after the earlier answers were seen."
)
SOURCES = (NIST, DEFINITION, FILTER)
