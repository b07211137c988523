"""The conformance suite that every registered mechanism passes.

A check takes a specimen and raises `AssertionError` with the reason; `all_checks` lists them. New
mechanisms join by entering the registry, new demands by a function here.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.audit.exhaustive import TOLERANCE, Worst, worst_case
from sourdine.audit.sampling import ALPHA, p_value
from sourdine.noise import SeededSource

if TYPE_CHECKING:
    from collections.abc import Callable

    from sourdine.mechanisms import Mechanism, Specimen

__all__ = ["EPSILON", "WEAKER", "all_checks", "sampled"]

EPSILON = Fraction(1)
WEAKER = Fraction(21, 20)
"""A copy that spends 5 % more than it says must be caught."""
POWER = Fraction(13, 10)
"""Noise 30 % too small or too large must be caught by the draws alone."""


def all_checks() -> tuple[Callable[[Specimen], None], ...]:
    """Return every check, in the order they are best run."""
    return (
        check_worst_case,
        check_weaker_copy_is_rejected,
        check_law_has_mass_one,
        check_error_bound,
        check_draws_follow_the_law,
        check_draws_have_power,
        check_release_says_what_it_cost,
        check_seeded_release_is_not_private,
        check_bad_epsilon_is_refused,
    )


def check_worst_case(specimen: Specimen) -> None:
    """Demand a certified worst case within the claim, and at it where it is called tight."""
    mechanism = specimen.make(EPSILON)
    worst = worst_case(mechanism, specimen.inputs)
    claim = float(mechanism.guarantee.epsilon)
    _demand(worst.within(mechanism.guarantee), f"epsilon {worst.upper} {_between(worst, claim)}")
    reached = not specimen.tight or worst.epsilon >= claim - TOLERANCE
    _demand(reached, f"called tight, but the worst is {worst.epsilon} {_between(worst, claim)}")


def check_weaker_copy_is_rejected(specimen: Specimen) -> None:
    """Demand that the same mechanism at 1.05 epsilon breaks the claim on the same inputs."""
    claim = specimen.make(EPSILON).guarantee
    worst = worst_case(specimen.make(WEAKER * EPSILON), specimen.inputs, claim)
    _demand(not worst.within(claim), f"a copy 5 % too weak passes with {worst.upper}")


def check_law_has_mass_one(specimen: Specimen) -> None:
    """Demand that the law's pieces and tails add up to one."""
    mechanism = specimen.make(EPSILON)
    for given in specimen.inputs:
        law = mechanism.law(mechanism.read(given))
        mass = float(np.exp(law.followed().log_mass()).sum())
        _demand(abs(mass - 1) < TOLERANCE + law.beyond, f"the law has mass {mass}")


def check_error_bound(specimen: Specimen) -> None:
    """Demand that the loss passes ``error(beta)`` with probability beta at most."""
    mechanism = specimen.make(EPSILON)
    for beta in (0.5, 0.05, 1e-3):
        bound = mechanism.error(beta)
        for given in specimen.inputs:
            passed = _chance_above(mechanism, mechanism.read(given), bound)
            _demand(passed <= beta * (1 + 1e-9), f"error({beta}) = {bound} is passed with {passed}")


def check_draws_follow_the_law(specimen: Specimen) -> None:
    """Demand that many draws fit the law."""
    for given in specimen.inputs:
        p = sampled(specimen.make(EPSILON), given, specimen.draws)
        _demand(p >= ALPHA, f"draws do not follow the law: p = {p:.1e}")


def check_draws_have_power(specimen: Specimen) -> None:
    """Demand that the draws do not fit the law of 30 % less or 30 % more noise."""
    mechanism, given = specimen.make(EPSILON), specimen.inputs[-1]
    draws = mechanism.simulate(given, specimen.draws)
    for factor in (POWER, 1 / POWER):
        other = specimen.make(EPSILON * factor)
        p = p_value(draws, other.law(other.read(given)))
        _demand(p < ALPHA, f"draws fit a law with epsilon times {float(factor):.2f}: p = {p:.1e}")


def check_release_says_what_it_cost(specimen: Specimen) -> None:
    """Demand that a release carries the guarantee and one of the law's outputs."""
    mechanism = specimen.make(EPSILON)
    for given in specimen.inputs:
        release = mechanism.release(given)
        _demand(release.cost == mechanism.guarantee, f"the cost is {release.cost}")
        outcome = mechanism.outcome(release)
        possible = mechanism.law(mechanism.read(given)).pmf([outcome])[0] > 0
        _demand(bool(possible), f"the law calls {outcome} impossible")


def check_seeded_release_is_not_private(specimen: Specimen) -> None:
    """Demand that a release from a seeded source costs infinity and says so."""
    mechanism = specimen.make(EPSILON)
    one, two = (mechanism.release(specimen.inputs[0], source=SeededSource(7)) for _ in range(2))
    _demand(not one.cost.is_private and "NOT PRIVATE" in str(one), f"it says {one.cost}")
    _demand(mechanism.outcome(one) == mechanism.outcome(two), "a seed does not repeat")


def check_bad_epsilon_is_refused(specimen: Specimen) -> None:
    """Demand that a bad epsilon is refused with what must hold, what was given and a hint."""
    for bad in (0, -1, float("nan"), float("inf"), "1", None, True):
        try:
            specimen.make(bad)  # type: ignore[arg-type]
        except (ValueError, TypeError) as error:
            said = str(error)
            complete = "epsilon must be" in said and ", got " in said and "Type" in said
            _demand(complete, f"epsilon={bad!r} is refused with: {said}")
        else:
            _demand(False, f"epsilon={bad!r} is accepted")  # noqa: FBT003


def sampled(mechanism: Mechanism[Any], given: object, draws: int) -> float:
    """Return the p-value of that many draws against the law."""
    return p_value(mechanism.simulate(given, draws), mechanism.law(mechanism.read(given)))


def _chance_above(mechanism: Mechanism[Any], x: object, bound: float) -> float:
    """Return the probability that the loss passes the bound, added up over all outputs."""
    law = mechanism.law(x)
    pieces = law.followed()
    cells = np.arange(int(pieces.start[0]), int(pieces.start[-1] + pieces.length[-1]))
    return float(law.pmf(cells)[mechanism.loss(x, cells) > bound].sum())


def _between(worst: Worst, claim: float) -> str:
    return f"between {worst.pair()} for a claim of {claim}"


def _demand(holds: bool, reason: str) -> None:  # noqa: FBT001
    if not holds:
        raise AssertionError(reason)
