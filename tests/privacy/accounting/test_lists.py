"""Lists of parts that hold whichever of several is drawn."""

from __future__ import annotations

import numpy as np
import pytest

from sourdine.privacy import Guarantee
from sourdine.privacy.accounting import Part, compose
from sourdine.privacy.accounting.parts import of_any_shift, of_promise, plain, widest

ONE = Guarantee(1, 1e-6)
OPTIONS = [
    ((Part.laplace(4, 4),), (Part.laplace(6, 6),)),
    ((Part.laplace(4, 8, times=2),), (Part.laplace(6, 12, times=2),)),
    ((Part.range(1),), (Part.range(0.5, times=2),)),
    ((Part.range(1),), (Part.laplace(7, 7),)),
    ((Part.response(0.5, 7), Part.range(0.5)), (Part.pure(0.5), Part.range(0.5))),
    ((Part.pure(0.5), Part.range(0.5)), (Part.range(1),)),
]


@pytest.mark.slow
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_the_widest_of_several_lists(options):
    found = widest(Guarantee(1), *options)
    assert plain(found) == (1, 0)
    assert widest(Guarantee(1), *options[::-1]) == found
    for epsilon in np.linspace(0, 0.95, 12):
        most = compose(found).delta(epsilon).upper * (1 + 1e-9)
        assert all(compose(parts).delta(epsilon).lower <= most for parts in options)


def test_lists_that_agree_are_kept():
    parts = (Part.gaussian(3, 40), Part.delta(1e-7))
    assert widest(ONE, parts) == widest(ONE, parts, parts) == parts


def test_lists_that_cannot_be_compared_are_a_promise():
    gaussian = (Part.gaussian(3, 40),)
    assert widest(ONE, gaussian, (Part.concentrated(1),)) == of_promise(ONE)
    assert widest(ONE, (Part.delta(1e-6),), (Part.delta(1e-7),)) == of_promise(ONE)
    assert of_any_shift(ONE, gaussian) == of_promise(ONE)


def test_parts_of_any_shift():
    parts = (Part.laplace(6, 12, times=2), Part.concentrated(0.1))
    assert of_any_shift(ONE, parts) == (Part.pure(0.5, times=2), Part.concentrated(0.1))
