"""No figure is missing, no row is without a claim, no verdict is another than the recorded one."""

from __future__ import annotations

from pathlib import Path

import pytest

from sourdine_lab.claims import verdicts
from sourdine_lab.claims.claim import Verdict
from sourdine_lab.page import DOCUMENTS, document
from sourdine_lab.registry import all_experiments
from sourdine_lab.table import Table

LAB = Path(__file__).parents[2] / "docs" / "lab"
MOST = 6_000_000
FIGURES = {
    *(f"canesse-{i}" for i in range(1, 7)),
    *(f"audibert-{i}" for i in range(1, 25)),
    "couchot-curve", "couchot-laws", "couchot-one-draw", "dubois-rates", "dubois-elbow",
    *(f"stemmer-s{i}" for i in (1, 3, 4, 6, 8)),
}  # fmt: skip
NAMES, ROWS = list(all_experiments()), list(verdicts.all_claims())


def test_no_figure_is_missing():
    redrawn = [figure for e in all_experiments().values() for figure in e.redraws]
    assert set(redrawn) >= FIGURES
    assert len(redrawn) == len(set(redrawn)), "a figure is redrawn by one experiment"


def test_every_row_has_a_claim():
    assert set(verdicts.ROWS) <= set(verdicts.all_claims())
    assert {claim.row for claim in verdicts.all_claims().values()} == set(verdicts.ROWS)


def test_every_verdict_is_recorded():
    recorded = verdicts.recorded()
    assert list(recorded) == ROWS
    assert set(recorded.values()) <= {v.value for v in Verdict} - {"undecided"}


@pytest.mark.parametrize("row", ROWS)
def test_the_verdict_is_the_recorded_one_and_minds_swapping(row, judged):
    assert verdicts.troubles([judged(row)]) == []


@pytest.mark.parametrize("name", NAMES)
def test_an_experiment_says_what_it_is(name):
    experiment = all_experiments()[name]
    assert document(experiment) in DOCUMENTS
    assert set(experiment.ids) <= set(verdicts.ROWS)
    assert experiment.question.endswith("?")
    assert experiment.stated
    assert not experiment.stated.endswith(".")
    assert experiment.split(quick=True, seed=1)


@pytest.mark.parametrize("name", NAMES)
def test_the_committed_numbers_are_those_of_the_code(name):
    experiment = all_experiments()[name]
    table = Table.read(LAB / "numbers" / f"{name}.csv")
    part = min(experiment.split(quick=True, seed=1), key=lambda p: str(p.settings))
    fresh = next(iter(experiment.compute(part)))
    assert set(fresh) <= {column for row in table.rows for column in row}


@pytest.mark.parametrize("name", NAMES)
def test_the_figure_can_be_drawn_from_the_committed_numbers(name):
    table = Table.read(LAB / "numbers" / f"{name}.csv")
    figure = all_experiments()[name].figure(table)
    assert figure.axes
    assert (LAB / "figures" / f"{name}.png").stat().st_size > 5_000


def test_the_committed_figures_are_small():
    assert sum(p.stat().st_size for p in LAB.rglob("*") if p.is_file()) <= MOST
