"""The terms of a server, and which of them go together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sourdine.adaptive.ledger import Blocks, Dependence, Iid, TranscriptLedger
from sourdine.adaptive.server.evidence import Cells
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import number

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from sourdine.adaptive.server.weights import Weights
    from sourdine.exact.parameters import Number

__all__ = [
    "beta_of",
    "counts_these",
    "dependence_of",
    "private_terms",
    "splits_once",
    "with_groups",
]


def dependence_of(given: Dependence | None, ledger: TranscriptLedger | None) -> Dependence:
    """Return how the rows depend on each other: what is declared, or the ledger's own."""
    if given is not None and not isinstance(given, Dependence):
        raise ParameterTypeError(
            f"dependence must be Iid(), Markov(0.5), Blocks(10) or Custom(...), got "
            f"{type(given).__name__}. Type dependence=Iid()."
        )
    if ledger is None:
        return Iid() if given is None else given
    if given is not None and given.facts() != ledger.dependence.facts():
        raise ParameterError(
            f"dependence must be the ledger's, {ledger.dependence.facts()}, got {given.facts()}. "
            "Leave it out."
        )
    return ledger.dependence


def with_groups(
    kind: Dependence, groups: Sequence[object] | NDArray[np.generic] | None, given: object
) -> Dependence:
    """Return the dependence of rows in groups: blocks of the largest one if nothing is declared."""
    if groups is None:
        return kind
    largest = int(np.unique(np.asarray(groups), return_counts=True)[1].max(initial=1))
    size = kind.size if isinstance(kind, Blocks) else 1
    if size < largest and given is not None:
        raise ParameterError(
            f"dependence must be Blocks of the largest group at least, {largest} rows, got "
            f"{kind.facts()}. Type dependence=Blocks({largest}), or leave it out."
        )
    return Blocks(max(size, largest))


def splits_once(guess: object, training: object, ledger: TranscriptLedger | None) -> None:
    """Refuse halves drawn anew over rows that a ledger has seen before."""
    if guess == "split" and training is None and ledger is not None:
        raise ParameterError(
            "ledger must be left out with guess='split' unless training= is given: halves drawn "
            "anew would check with rows that have guessed before. Type training=rows, and let "
            "the ledger be of the other rows."
        )


def beta_of(given: Number | None, ledger: TranscriptLedger | None) -> Fraction:
    """Return the chance of a miss: what is asked for, or the ledger's own."""
    if ledger is None:
        return number(0.05 if given is None else given, "beta", above=0, most=1)
    if given is not None and number(given, "beta", above=0, most=1) != ledger.beta:
        raise ParameterError(
            f"beta must be the ledger's, {float(ledger.beta):g}, got {given}. Leave it out."
        )
    return ledger.beta


def counts_these(ledger: TranscriptLedger, n: int) -> None:
    """Refuse a ledger of other rows."""
    if ledger.n != n:
        raise ParameterError(
            f"ledger must be of the {n} rows that check, got one of {ledger.n}. "
            f"Type TranscriptLedger({n})."
        )


def private_terms(
    evidence: object, hypothesis: Weights | None, dependence: Dependence, ledger: object
) -> tuple[Cells, Weights]:
    """Return what a private look needs, or refuse what does not go with privacy."""
    if hypothesis is None or not isinstance(evidence, Cells):
        raise ParameterError("privacy must go with guess='weights'. Type universe= and no guess.")
    if not isinstance(dependence, Iid):
        raise ParameterError(
            f"dependence must be Iid() with privacy, got {dependence.facts()['name']}: the account "
            "of privacy is proved for independent rows. Type dependence=Iid()."
        )
    if ledger is not None:
        raise ParameterError(
            "ledger must be left out with privacy, since the chance of a miss is divided between "
            "accounts. Type beta= in its place."
        )
    return evidence, hypothesis
