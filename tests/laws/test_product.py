"""Laws of rows against plain sums over every row."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import exp, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sourdine.audit import p_value
from sourdine.errors import ParameterError
from sourdine.laws import Law, Product, alone
from sourdine.laws.compare import Losses, Tail
from sourdine.mechanisms.laplace import laplace_law
from sourdine.noise import SeededSource

WEIGHTS = st.lists(st.floats(-3, 3), min_size=1, max_size=4)
ROWS = st.lists(WEIGHTS, min_size=1, max_size=3)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(ROWS, st.data(), st.floats(0, 2))
def test_products_are_compared_as_all_their_rows(first, data, epsilon):
    second = [
        data.draw(st.lists(st.floats(-3, 3), min_size=len(w), max_size=len(w))) for w in first
    ]
    if data.draw(st.booleans()):
        second[0] = first[0]
    p, q = (Product(tuple(Law.finite(w) for w in rows)) for rows in (first, second))
    every = list(product(*(range(len(w)) for w in first)))
    here, there = p.pmf(every), q.pmf(every)
    assert here.sum() == pytest.approx(1)
    apart, stick = p.divergence(q), p.hockey_stick(q, epsilon)
    assert apart.value == pytest.approx(max(np.log(here / there)), abs=1e-9)
    assert stick.value == pytest.approx(np.maximum(here - exp(epsilon) * there, 0).sum(), abs=1e-9)
    assert apart.value <= apart.upper <= apart.value + 1e-9
    assert stick.value <= stick.upper <= stick.value + 1e-9


def test_the_loss_of_a_row_of_laplace_noises_is_the_l1_distance():
    rows = [Product(tuple(laplace_law(v, Fraction(3)) for v in x)) for x in ((0, 5), (2, 1))]
    assert rows[0].divergence(rows[1]).value == pytest.approx(2)
    cells = np.arange(-150, 156)
    here, there = (
        np.multiply.outer(*(factor.pmf(cells) for factor in law.factors)) for law in rows
    )
    sticks = [np.maximum(here - exp(e) * there, 0).sum() for e in (0.5, 1, 3)]
    found = [rows[0].hockey_stick(rows[1], e) for e in (0.5, 1, 3)]
    assert [f.value for f in found] == pytest.approx(sticks, abs=1e-12)
    assert all(f.value <= f.upper < f.value + 1e-9 for f in found)


def test_names_that_only_one_law_has_are_compared_with_the_rest():
    tail = Tail.geometric(log(0.1), Fraction(1))
    seen = Law.of([3], [1], [log(1 - 0.1 / (1 - exp(-1)))], [0.0], right=tail)
    rest = Law.finite([0.0], 3)
    one, none = Product((seen,), ("a",), rest), Product((), (), rest)
    assert one.divergence(none).value == np.inf
    assert none.divergence(one).upper < np.inf
    assert one.hockey_stick(none, 5).value == pytest.approx(0.1 / (1 - exp(-1)))
    assert one.pmf([{"a": 4}, {}, {"b": 4}])[:2] == pytest.approx([0.1, 1 - 0.1 / (1 - exp(-1))])
    assert one.pmf([{"b": 4}])[0] == 0
    assert none.hockey_stick(none, 0).value == 0


def test_entries_that_depend_on_each_other_are_seen():
    law = Product((laplace_law(0, Fraction(2)), laplace_law(5, Fraction(3))))
    source = SeededSource(4)
    one, two = (factor.sample(20_000, source=source) for factor in law.factors)
    assert p_value(np.column_stack([one, two]), law) > 1e-6
    paired = np.column_stack([np.sort(one), np.sort(two)])
    assert p_value(paired, law) < 1e-9
    assert p_value(np.column_stack([one, two + 1]), law) < 1e-9


def test_what_is_too_large_is_refused():
    wide = [Product((laplace_law(x, Fraction(500)),) * 2) for x in (0, 1)]
    with pytest.raises(ParameterError, match="laws of rows must have few cells"):
        wide[0].hockey_stick(wide[1], 1)
    with pytest.raises(ParameterError, match="be of one number here"):
        alone(wide[0])


def test_what_is_not_certain_of_either_law_is_not_certain_of_both():
    some = np.array([0.5, 0.5])
    first = Losses(np.array([0.0, 1.0]), some, some, slack=0.25, beyond=0.125)
    second = Losses(np.array([0.0, -1.0]), some, some, slack=0.5, beyond=0.0625)
    for both in (first.beside(second), second.beside(first)):
        assert (both.slack, both.beyond) == (0.75, 0.1875)
        assert sorted(both.loss.tolist()) == [-1, 0, 0, 1]
