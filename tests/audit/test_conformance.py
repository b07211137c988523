"""Every mechanism passes every check; that each check bites is shown elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from sourdine.audit import checks, registered

each = pytest.mark.parametrize("specimen", registered(), ids=lambda s: s.name)


@each
def test_exact_worst_case(specimen):
    checks.check_worst_case(specimen)


@each
def test_weaker_copy_is_rejected(specimen):
    checks.check_weaker_copy_is_rejected(specimen)


@each
def test_parts_add_up(specimen):
    checks.check_parts_add_up(specimen)


@each
def test_whole_curve(specimen):
    checks.check_whole_curve(specimen)


@each
def test_weaker_curve_is_rejected(specimen):
    checks.check_weaker_curve_is_rejected(specimen)


@each
def test_law_has_mass_one(specimen):
    checks.check_law_has_mass_one(specimen)


@each
def test_error_bound_holds(specimen):
    checks.check_error_bound(specimen)


@each
def test_draws_follow_the_law(specimen):
    checks.check_draws_follow_the_law(specimen)


@each
def test_draws_have_power(specimen):
    checks.check_draws_have_power(specimen)


@each
def test_release_says_what_it_cost(specimen):
    checks.check_release_says_what_it_cost(specimen)


@each
def test_seeded_release_is_not_private(specimen):
    checks.check_seeded_release_is_not_private(specimen)


@each
def test_bad_epsilon_is_refused(specimen):
    checks.check_bad_epsilon_is_refused(specimen)


def test_no_check_is_left_out():
    written = Path(__file__).read_text()
    for check in checks.all_checks():
        assert f"checks.{check.__name__}(specimen)" in written
    named = {name for name in dir(checks) if name.startswith("check_")}
    assert named == {check.__name__ for check in checks.all_checks()}
