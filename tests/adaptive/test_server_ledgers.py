"""Ledgers of a query server: shared ones, refusals, and what is left."""

from __future__ import annotations

import numpy as np
import pytest

from sourdine.adaptive.ledger.dependence import Blocks
from sourdine.adaptive.ledger.ledger import TranscriptLedger
from sourdine.adaptive.query_server.server import Left, QueryServer
from sourdine.errors import BudgetExceededError, ParameterError


def test_a_ledger_in_a_file_is_shared(tmp_path):
    ledger = TranscriptLedger(1000, confidence=0.99, path=tmp_path / "rows.ledger")
    rows = [0] * 700 + [1] * 300
    first = QueryServer(rows, universe=2, ledger=ledger)
    first.ask([1.0, 0.0])
    bits = first.bits
    second = QueryServer(rows, universe=2, ledger=TranscriptLedger.open(tmp_path / "rows.ledger"))
    assert second.bits == bits > 0
    assert second.certificate().beta == 0.01
    second.ask([1.0, 0.0])
    assert first.bits == second.bits > bits


def test_a_ledger_must_be_of_these_rows():
    with pytest.raises(ParameterError, match="ledger must have the 2 rows"):
        QueryServer([0, 1], universe=2, ledger=TranscriptLedger(3))
    with pytest.raises(ParameterError, match="confidence must be that of the ledger"):
        QueryServer([0, 1], universe=2, ledger=TranscriptLedger(2), confidence=0.9)
    with pytest.raises(ParameterError, match="dependence must be that of the ledger"):
        QueryServer([0, 1], universe=2, ledger=TranscriptLedger(2), dependence=Blocks(2))


def until_refused(server, guess):
    """Ask the same until it is refused; return how often it was answered."""
    for asked in range(10_000):
        try:
            server.ask([0.0, 1.0], guess=guess)
        except BudgetExceededError:
            return asked
    return None


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_a_refusal_does_not_depend_on_the_rows(share):
    """Nothing is answered where a surprise would not fit, surprise or not."""
    rows = np.random.default_rng(0).random(3000) < share
    ledger = TranscriptLedger(3000, error=0.06)
    server = QueryServer(rows, universe=2, ledger=ledger)
    assert until_refused(server, share) > 5
    before = ledger.spent
    assert server.hard == 0
    assert ledger.halfwidth() <= 0.06
    with pytest.raises(BudgetExceededError, match=r"above the limit of 0\.06"):
        server.ask([0.0, 1.0], guess=0.2)
    assert ledger.spent == before


def test_refusals_come_at_the_same_question():
    counts = []
    for share in (0.5, 0.52):
        rows = np.arange(3000) < 3000 * share
        server = QueryServer(rows, universe=2, ledger=TranscriptLedger(3000, error=0.06))
        counts.append(until_refused(server, 0.5))
    assert counts[0] == counts[1] > 5


def test_a_surprise_that_fits_is_answered_at_any_question():
    """Whether it is a surprise is never told by a refusal: the last question may be one too."""

    def fresh():
        ledger = TranscriptLedger(3000, error=0.06)
        return QueryServer(np.arange(3000) < 1500, universe=2, ledger=ledger)

    answered = until_refused(fresh(), 0.5)
    for nods in (0, answered // 2, answered - 1):
        server = fresh()
        for _ in range(nods):
            server.ask([0.0, 1.0], guess=0.5)
        assert server.ask([0.0, 1.0], guess=0.3).source == "data"


# --- what is left


def asked_until_refused(server, query, guess):
    for asked in range(10**6):
        try:
            server.ask(query, guess=guess)
        except BudgetExceededError:
            return asked
    return None


@pytest.mark.slow
@pytest.mark.parametrize("error", [0.02, 0.05, 0.3])
@pytest.mark.parametrize("before", [0, 3])
def test_what_remains_is_answered(error, before):
    """Exact for nods but for the width of the bound on levels; surprises of any cell."""

    def fresh():
        ledger = TranscriptLedger(3000, error=0.08)
        server = QueryServer(np.arange(3000) < 1500, universe=2, ledger=ledger, error=error)
        for i in range(before):
            server.ask([0.0, 1.0], guess=0.1 * i)
        return server

    left = fresh().remaining
    assert left == fresh().until(0.08)
    assert left.surprises >= 1
    nods = asked_until_refused(fresh(), [0.0, 1.0], 0.5)
    assert 0.4 * nods <= left.nods <= nods
    for guesses in ([0.0], [1.0], [0.0, 1.0, 0.1, 0.9, 0.15, 0.85]):
        server = fresh()
        for i in range(left.surprises):
            assert server.ask([0.0, 1.0], guess=guesses[i % len(guesses)]).source == "data"
        assert server.remaining.surprises <= max(left.surprises, 2)


def test_what_remains_shrinks_to_nothing():
    server = QueryServer(np.arange(3000) < 1500, universe=2)
    assert server.remaining == Left(None, None)
    assert str(server.remaining) == "remaining  any number of surprises, or any number of nods"
    first = server.until(0.05)
    assert str(first) == f"remaining  {first.surprises} surprises, or {first.nods} nods"
    server.ask([0.0, 1.0], guess=0.0)
    assert server.until(0.05).surprises < first.surprises
    assert server.until(0.05).nods < first.nods
    assert server.until(0.01) == Left(0, 0)
    with pytest.raises(ParameterError, match="error must be above 0"):
        server.until(0)
    wide = QueryServer([0, 1], universe=2, error=1)
    assert wide.until(0.01) == Left(None, None)
