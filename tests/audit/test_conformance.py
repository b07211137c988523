"""Every mechanism passes every check; that each check bites is shown elsewhere.

The checks of a mechanism run one after the other and share its laws and draws, which take longer
than all that is done with them.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path

import pytest

from sourdine.audit import checks, registered
from sourdine.audit.exhaustive import _key


class Remembered:
    """A mechanism that finds each law once and draws once for each input."""

    def __init__(self, mechanism):
        self._mechanism, self._known = mechanism, {}

    def __getattr__(self, name):
        return getattr(self._mechanism, name)

    def law(self, x):
        return self._once(self._mechanism.law, x)

    def simulate(self, x, size):
        return self._once(self._mechanism.simulate, x, size)

    def _once(self, found, x, *more):
        key = found.__name__, _key(self._mechanism.read(x)), *more
        if key not in self._known:
            self._known[key] = found(x, *more)
        return self._known[key]


LARGE = {"quantiles.levels.add_remove", "quantiles.hybrid.add_remove"}
"""Specimens whose laws take longest to find; others of the same mechanisms are quick."""
BOUNDS = {"quantiles.tree.add_remove", "quantiles.tree.substitute", "regression.laplace"}
"""Specimens whose bounds on errors take longest to check."""
CURVES = {"density.dubois", "choice.above_threshold", "regression.laplace.centred"}
RELEASES = {
    "regression.laplace": "regression.laplace.centred",
    "quantiles.nearest.add_remove": "quantiles.nearest.substitute",
}
"""Specimens whose single releases take longest, each with another of the same mechanism."""
FEW = 20_000
"""A specimen that draws less often draws slowly."""


def is_slow(check, specimen):
    """Whether a check of a specimen takes more than a second or two."""
    return (
        specimen.name in LARGE
        or check == "test_releases_follow_the_law"
        or (check == "test_draws_follow_the_law" and specimen.draws <= FEW)
        or (check == "test_error_bound_holds" and specimen.name in BOUNDS)
        or (check == "test_whole_curve" and specimen.name in CURVES)
    )


def tier(check, specimen, first):
    """Return the marks of a check of a specimen.

    Where specimens differ in their relation only, the same code draws for both: single releases of
    the first are slow, and of the other and of large ones simulations. So are many draws of the
    other and of large ones if they take long, and the power of those that draw slowest.
    """
    slow = is_slow(check, specimen)
    long = specimen.name in LARGE or specimen.name in RELEASES
    if check == "test_releases_follow_the_law" and (long or not first):
        return [pytest.mark.simulation]
    if check == "test_draws_follow_the_law" and slow and (specimen.name in LARGE or not first):
        return [pytest.mark.simulation]
    if check == "test_draws_have_power" and long:
        return [pytest.mark.simulation]
    return [pytest.mark.slow] if slow else []


@cache
def kinds():
    """Return the mechanism of every specimen."""
    return {one.name: type(one.make(1)) for one in registered()}


def pytest_generate_tests(metafunc):
    """Run every check on every specimen."""
    if "specimen" in metafunc.fixturenames:
        check, params, seen = metafunc.function.__name__, [], set()
        for one in registered():
            name = one.name.removesuffix(".add_remove").removesuffix(".substitute")
            marks = tier(check, one, name not in seen)
            params.append(pytest.param(one, marks=marks, id=one.name))
            if one.name not in LARGE and one.name not in RELEASES:
                seen.add(name)
        metafunc.parametrize("specimen", params, indirect=True, scope="module")


@pytest.fixture(scope="module")
def specimen(request):
    made = request.param.make
    remembered = lru_cache(typed=True)(lambda epsilon: Remembered(made(epsilon)))
    return replace(request.param, make=remembered)


def test_exact_worst_case(specimen):
    checks.check_worst_case(specimen)


def test_weaker_copy_is_rejected(specimen):
    checks.check_weaker_copy_is_rejected(specimen)


def test_parts_add_up(specimen):
    checks.check_parts_add_up(specimen)


def test_whole_curve(specimen):
    checks.check_whole_curve(specimen)


def test_weaker_curve_is_rejected(specimen):
    checks.check_weaker_curve_is_rejected(specimen)


def test_law_has_mass_one(specimen):
    checks.check_law_has_mass_one(specimen)


def test_error_bound_holds(specimen):
    checks.check_error_bound(specimen)


def test_draws_follow_the_law(specimen):
    checks.check_draws_follow_the_law(specimen)


@pytest.mark.quick_cases(5)
def test_draws_have_power(specimen):
    checks.check_draws_have_power(specimen)


def test_releases_follow_the_law(specimen):
    checks.check_releases_follow_the_law(specimen)


def test_release_says_what_it_cost(specimen):
    checks.check_release_says_what_it_cost(specimen)


def test_seeded_release_is_not_private(specimen):
    checks.check_seeded_release_is_not_private(specimen)


def test_bad_epsilon_is_refused(specimen):
    checks.check_bad_epsilon_is_refused(specimen)


def test_every_mechanism_has_its_worst_case_among_the_quick_tests():
    quick = {kind for name, kind in kinds().items() if name not in LARGE}
    assert set(kinds().values()) == quick
    for check in ("test_exact_worst_case", "test_weaker_copy_is_rejected"):
        assert {one.name for one in registered() if is_slow(check, one)} == LARGE


def test_the_releases_of_every_mechanism_are_compared():
    """Each draws single releases in some slow test, so that none is left to the simulations."""
    compared, seen = set(), set()
    for one in registered():
        name = one.name.removesuffix(".add_remove").removesuffix(".substitute")
        marks = tier("test_releases_follow_the_law", one, name not in seen)
        if pytest.mark.simulation not in marks:
            compared.add(one.name)
        if one.name not in LARGE and one.name not in RELEASES:
            seen.add(name)
    assert {kinds()[name] for name in compared} == set(kinds().values())
    assert {*RELEASES.values()} <= compared
    for large, other in RELEASES.items():
        assert kinds()[large] is kinds()[other]


def test_no_check_is_left_out():
    written = Path(__file__).read_text()
    for check in checks.all_checks():
        assert f"checks.{check.__name__}(specimen)" in written
    named = {name for name in dir(checks) if name.startswith("check_")}
    assert named == {check.__name__ for check in checks.all_checks()}
