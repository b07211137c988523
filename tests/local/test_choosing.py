from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.local.categorical.choosing import best_oracle, oracles
from sourdine.local.categorical.hashing import HadamardResponse, LocalHashing
from sourdine.local.categorical.subset import SubsetSelection
from sourdine.mechanisms.randomized_response import RandomizedResponse

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "categorical.md"
CASES = list(product((0.05, 0.3, 1, 2, 4, 8), (2, 3, 6, 20, 150, 1000, 40_000)))


def named(oracle):
    return next(name for name, make in oracles().items() if make is type(oracle))


@pytest.mark.parametrize(("epsilon", "k"), CASES)
def test_no_other_is_much_better(epsilon, k):
    chosen = best_oracle(epsilon, k)
    others = [make(epsilon=epsilon, categories=k) for make in oracles().values()]
    least = min(other.noise_variance for other in others)
    assert chosen.noise_variance <= 1.05 * least
    assert oracles()["subset"](epsilon=epsilon, categories=k).noise_variance <= least * (1 + 1e-12)
    for other in others:
        if other.noise_variance <= 1.05 * least:
            assert (chosen.bits, chosen.noise_variance) <= (other.bits, other.noise_variance)


@pytest.mark.parametrize(("epsilon", "k"), CASES)
@pytest.mark.parametrize("most_bits", [16, 40])
def test_reports_are_no_longer_than_allowed(epsilon, k, most_bits):
    chosen = best_oracle(epsilon, k, most_bits=most_bits)
    assert chosen.bits <= most_bits
    for make in oracles().values():
        other = make(epsilon=epsilon, categories=k)
        assert other.bits > most_bits or chosen.noise_variance <= 1.05 * other.noise_variance


def test_choices_are_those_of_the_guide():
    """The guide's table: a row for each epsilon, a column for each k."""
    lines = [line.strip("| ").split("|") for line in GUIDE.read_text().splitlines()]
    table = [[cell.strip() for cell in line] for line in lines]
    start = next(i for i, cells in enumerate(table) if cells[0].startswith("epsilon \\ k"))
    sizes = [int(cell) for cell in table[start][1:]]
    rows = [cells for cells in table[start + 2 :] if len(cells) == len(sizes) + 1]
    assert len(rows) >= 5
    for epsilon, *names in rows:
        got = [named(best_oracle(float(epsilon), k)) for k in sizes]
        assert got == names, epsilon


def test_each_wins_somewhere():
    assert isinstance(best_oracle(1, 3), RandomizedResponse)
    assert isinstance(best_oracle(1, 20), SubsetSelection)
    assert isinstance(best_oracle(1, 1000), LocalHashing)
    assert isinstance(best_oracle(0.1, 1000), HadamardResponse)


def test_two_categories_are_warner_with_the_best_coins():
    assert best_oracle(0.7, 2) == RandomizedResponse(epsilon=0.7, categories=2)


def test_more_categories_than_a_tally_has():
    assert isinstance(best_oracle(1, 2**40), RandomizedResponse)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: best_oracle(1, 1000, most_bits=9), ParameterError, "most_bits must be at least"),
        (lambda: best_oracle(1, 1000, most_bits=0), ParameterError, "most_bits must be at least 1"),
        (lambda: best_oracle(1, 9, most_bits=1.5), ParameterTypeError, "most_bits must be a whole"),
        (lambda: best_oracle(0, 9), ParameterError, "epsilon must be"),
        (lambda: best_oracle(1, 1), ParameterError, "categories must be at least 2, got 1"),
    ],
)
def test_bad_parameters_are_refused(call, error, text):
    with pytest.raises(error, match=text):
        call()
