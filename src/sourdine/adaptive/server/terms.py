"""The terms of a server, and which of them go together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sourdine.adaptive.ledger import Blocks, Dependence, Iid, TranscriptLedger
from sourdine.adaptive.server.evidence import Cells
from sourdine.errors import LEFT_OUT, ParameterError, ParameterTypeError
from sourdine.exact import given, kind
from sourdine.release import beta_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from sourdine.adaptive.server.weights import Weights
    from sourdine.exact.parameters import Number

__all__ = [
    "agreed_beta",
    "counts_these",
    "dependence_of",
    "private_terms",
    "some_rows",
    "splits_once",
    "with_groups",
]


def dependence_of(declared: Dependence | None, ledger: TranscriptLedger | None) -> Dependence:
    """Return how the rows depend on each other: what is declared, or the ledger's own."""
    if declared is not None and not isinstance(declared, Dependence):
        raise ParameterTypeError(
            "dependence",
            "be Iid(), Markov(0.5), Blocks(10) or Custom(...)",
            kind(declared),
            "Type {dependence}.",
            dependence=Iid(),
        )
    if ledger is None:
        return Iid() if declared is None else declared
    if not isinstance(ledger, TranscriptLedger):
        raise ParameterTypeError(
            "ledger", "be a TranscriptLedger", kind(ledger), "Leave {ledger} out.", ledger=LEFT_OUT
        )
    if declared is not None and declared.facts() != ledger.dependence.facts():
        raise ParameterError(
            "dependence",
            f"be the ledger's, {ledger.dependence.facts()}",
            f"{declared.facts()}",
            "Leave {dependence} out.",
            dependence=LEFT_OUT,
        )
    return ledger.dependence


def with_groups(
    dependence: Dependence, groups: Sequence[object] | NDArray[np.generic] | None, declared: object
) -> Dependence:
    """Return the dependence of rows in groups: blocks of the largest one if nothing is declared."""
    if groups is None:
        return dependence
    largest = int(np.unique(np.asarray(groups), return_counts=True)[1].max(initial=1))
    size = dependence.size if isinstance(dependence, Blocks) else 1
    if size < largest and declared is not None:
        raise ParameterError(
            "dependence",
            f"be Blocks of the largest group at least, {largest} rows",
            f"{dependence.facts()}",
            "Type {dependence}, or leave it out.",
            dependence=Blocks(largest),
        )
    return Blocks(max(size, largest))


def splits_once(guess: object, training: object, ledger: TranscriptLedger | None) -> None:
    """Refuse halves drawn anew over rows that a ledger has seen before."""
    if guess == "split" and training is None and ledger is not None:
        raise ParameterError(
            "ledger",
            "be left out where the guess is 'split', unless {training} is given",
            "one",
            "Halves drawn anew would check with rows that have guessed before. Leave {ledger} out, "
            "or let it be of the other rows.",
            ledger=LEFT_OUT,
        )


def agreed_beta(confidence: Number | None, ledger: TranscriptLedger | None) -> Fraction:
    """Return the chance of a miss: what is asked for, or the ledger's own."""
    if ledger is None:
        return beta_of(0.95 if confidence is None else confidence)
    if confidence is not None and beta_of(confidence) != ledger.beta:
        raise ParameterError(
            "confidence",
            f"be the ledger's, {float(1 - ledger.beta):g}",
            given(confidence),
            "Leave {confidence} out.",
            confidence=LEFT_OUT,
        )
    return ledger.beta


def some_rows(n: int) -> int:
    """Return how many rows check, if any."""
    if n < 1:
        raise ParameterError("rows", "be at least one", "none", "Pass the rows to ask about.")
    return n


def counts_these(ledger: TranscriptLedger, n: int) -> None:
    """Refuse a ledger of other rows."""
    if ledger.n != n:
        raise ParameterError(
            "ledger",
            f"be of the {n} rows that check",
            f"one of {ledger.n}",
            f"Type TranscriptLedger({n}).",
        )


def private_terms(
    evidence: object, hypothesis: Weights | None, dependence: Dependence, ledger: object
) -> tuple[Cells, Weights]:
    """Return what a private look needs, or refuse what does not go with privacy."""
    if hypothesis is None or not isinstance(evidence, Cells):
        raise ParameterError(
            "privacy",
            "go with the guess 'weights'",
            "another guess",
            "Type {universe}, and leave {guess} out.",
            universe=1000,
            guess=LEFT_OUT,
        )
    if not isinstance(dependence, Iid):
        raise ParameterError(
            "dependence",
            "be Iid() with privacy",
            dependence.name,
            "The account of privacy is proved for independent rows. Type {dependence}.",
            dependence=Iid(),
        )
    if ledger is not None:
        raise ParameterError(
            "ledger",
            "be left out with privacy",
            "one",
            "The chance of a miss is divided between accounts. Leave {ledger} out, and type "
            "{confidence} in its place.",
            ledger=LEFT_OUT,
            confidence=0.95,
        )
    return evidence, hypothesis
