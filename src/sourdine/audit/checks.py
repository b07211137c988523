"""The conformance suite that every mechanism passes, and its table."""

from __future__ import annotations

import os
import signal
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from fractions import Fraction
from inspect import signature
from itertools import chain
from math import prod
from multiprocessing import get_context
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sourdine.audit.curves import Passed, Spread, held, held_by, rejected
from sourdine.audit.discovery import registered
from sourdine.audit.exhaustive import (
    ALPHA,
    TOLERANCE,
    Worst,
    neighbouring,
    p_value,
    worst_case,
    worst_of,
)
from sourdine.errors import MissingExtraError
from sourdine.mechanisms.mechanism import Mechanism
from sourdine.noise import SeededSource
from sourdine.privacy.accounting import compose
from sourdine.privacy.accounting.parts import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from sourdine.laws import Law, Product
    from sourdine.mechanisms import Specimen
    from sourdine.privacy import Guarantee
    from sourdine.results.release import Release


# ---- The conformance suite that every mechanism passes -------------------------------------------
#
# A check takes a specimen and raises `AssertionError` with the reason; `all_checks` lists them. New
# mechanisms join by having a specimen, new demands by a function here.


ALMOST = 1 + 1e-4
"""The certified delta of zCDP, over some orders only, may pass the best one by this factor."""
POWER = Fraction(13, 10)
"""Noise 30% too small or too large must be caught by the draws alone."""
FEWEST_RELEASES = 500
"""The number of single releases with which the comparison with the law begins."""
MORE = (1, 2, 4, 8)
"""The factor by which draws are increased when chance hides a wrong law from a specimen's draws."""
MOST_OUTCOMES = 1 << 20
"""The most outputs over which the chance of an error is added up; for more, draws find it."""


def all_checks() -> tuple[Callable[[Specimen], None], ...]:
    """Return every check, in the order they are best run."""
    return (
        check_worst_case, check_weaker_copy_is_rejected, check_parts_add_up, check_whole_curve,
        check_weaker_curve_is_rejected, check_law_has_mass_one, check_error_bound,
        check_draws_follow_the_law, check_draws_have_power, check_releases_follow_the_law,
        check_release_says_what_it_cost, check_seeded_release_is_not_private,
        check_bad_epsilon_is_refused,
    )  # fmt: skip


def check_worst_case(specimen: Specimen) -> None:
    """Demand a certified worst case within the claim, and at it where it is called tight."""
    mechanism = _made(specimen)
    worst = worst_case(mechanism, specimen.inputs)
    claim = float(mechanism.guarantee.epsilon)
    _demand(worst.within(mechanism.guarantee), f"epsilon {worst.upper} {_between(worst, claim)}")
    reached = not specimen.tight or worst.epsilon >= claim - TOLERANCE
    _demand(reached, f"called tight, but the worst is {worst.epsilon} {_between(worst, claim)}")


def check_weaker_copy_is_rejected(specimen: Specimen) -> None:
    """Demand that the same mechanism at 1.05 epsilon breaks the claim on the same inputs.

    A specimen may say that its inputs catch weaker copies only.
    """
    claim, factor = _made(specimen).guarantee, specimen.weaker
    worst = worst_case(_made(specimen, factor), specimen.inputs, claim)
    caught = not worst.within(claim)
    _demand(caught, f"a copy {100 * float(factor - 1):.0f}% too weak passes with {worst.upper}")


def check_parts_add_up(specimen: Specimen) -> None:
    """Demand that the parts of the loss make the guarantee, exactly.

    Gaussian noise has no plain epsilon: then the delta of the parts, at the guarantee's epsilon,
    must be at most the guarantee's.
    """
    mechanism = _made(specimen)
    parts, promise = mechanism.parts, mechanism.guarantee
    epsilon, delta = plain(parts)
    if epsilon is not None:
        same = (epsilon, delta) == (promise.epsilon, promise.delta)
        _demand(same, f"the parts make {epsilon}, {delta} of {promise}")
        return
    least = compose(parts).delta(promise.exact_epsilon()).upper
    _demand(least <= float(promise.delta) * ALMOST, f"the parts have delta {least} of {promise}")


def check_whole_curve(specimen: Specimen) -> None:
    """Demand that ranges and whole curves of neighbours are within those of the parts."""
    spread, passed = held(_made(specimen), specimen.inputs)
    _demand(spread.holds, f"losses lie {spread.upper} apart for a claim of {spread.claim}")
    _demand(passed.holds, f"the curve between {passed.pair()} is passed by {passed.excess:.1e}")


def check_weaker_curve_is_rejected(specimen: Specimen) -> None:
    """Demand that the curve of the same mechanism at 1.05 epsilon passes that of the parts.

    A specimen may say that its inputs catch weaker copies only.
    """
    factor, parts = specimen.weaker, _made(specimen).parts
    caught = rejected(_made(specimen, factor), specimen.inputs, parts)
    _demand(caught, f"the curve of a copy {100 * float(factor - 1):.0f}% too weak passes")


def check_law_has_mass_one(specimen: Specimen) -> None:
    """Demand that the law's pieces and tails add up to one."""
    mechanism = _made(specimen)
    for given in specimen.inputs:
        for law in mechanism.law(given).factors:
            mass = float(np.exp(law.followed().log_mass()).sum())
            _demand(abs(mass - 1) < TOLERANCE + law.beyond, f"the law has mass {mass}")


def check_error_bound(specimen: Specimen) -> None:
    """Demand that the loss passes ``error(beta)`` with probability beta at most.

    Where the bound depends on how many records there are, that for the input's own number too.
    """
    mechanism = _made(specimen)
    counted = "n" in signature(mechanism.error).parameters
    for given in specimen.inputs:
        x = mechanism.read(given)
        passed = _chance_above(mechanism, x, specimen.draws)
        for beta in (0.5, 0.05, 1e-3):
            for known in ({}, {"n": x.n}) if counted else ({},):
                bound = mechanism.error(beta, **known)
                chance = passed(bound)
                held = chance <= beta * (1 + TOLERANCE)
                _demand(held, f"error({beta}) = {bound} is passed with {chance}")


def check_draws_follow_the_law(specimen: Specimen) -> None:
    """Demand that many draws fit the law."""
    for given in specimen.inputs:
        p = sampled(_made(specimen), given, specimen.draws)
        _demand(p >= ALPHA, f"draws do not follow the law: p = {p:.1e}")


def check_draws_have_power(specimen: Specimen) -> None:
    """Demand that draws fit the law, and none of 30% less or 30% more noise.

    More are made until they have the power to reject both wrong laws.
    """
    mechanism, given = _made(specimen), specimen.inputs[-1]
    draws, p = _drawn_with_power(specimen)
    _demand(p < ALPHA, f"{len(draws)} draws fit a law with 30% more or less noise: p = {p:.1e}")
    p = p_value(draws, mechanism.law(mechanism.read(given)))
    _demand(p >= ALPHA, f"{len(draws)} draws do not follow the law: p = {p:.1e}")


def _drawn_with_power(specimen: Specimen) -> tuple[NDArray[np.int64], float]:
    """Return enough draws for both wrong laws to be rejected, and the larger of their p-values."""
    wrong = _wrong_laws(specimen)
    for more in MORE:
        draws = _made(specimen).simulate(specimen.inputs[-1], more * specimen.draws)
        p = max(p_value(draws, law) for law in wrong)
        if p < ALPHA:
            break
    return draws, p


def check_releases_follow_the_law(specimen: Specimen) -> None:
    """Demand that single releases fit the law, and none of 30% less or 30% more noise.

    One draw may come from other code than many at once, and so may one for each of many inputs.
    Releases are made until they have the power to reject both wrong laws.
    """
    mechanism, given = _made(specimen), specimen.inputs[-1]

    def one_by_one(count: int) -> list[Release]:
        return [mechanism.release(given) for _ in range(count)]

    def together(count: int) -> list[Release]:
        drawn = mechanism.release_all([given] * count)
        return [replace(one, value=value) for value in drawn]

    one = mechanism.release(given)
    own = getattr(mechanism.draw_all, "__func__", None) is not Mechanism.draw_all
    wrong = _wrong_laws(specimen)
    for released in (one_by_one, together) if own else (one_by_one,):
        releases: list[Release] = []
        caught = False
        while not caught and len(releases) < max(MORE) * specimen.draws:
            releases += released(max(FEWEST_RELEASES, len(releases)))
            found = mechanism.outcomes_of(releases)
            caught = all(p_value(found, law) < ALPHA for law in wrong)
        said = f"{len(found)} releases {released.__name__.replace('_', ' ')}"
        _demand(caught, f"{said} fit a law with 30% more or less noise")
        p = p_value(found, mechanism.law(mechanism.read(given)))
        _demand(p >= ALPHA, f"{said} do not follow the law: p = {p:.1e}")


def _wrong_laws(specimen: Specimen) -> list[Law | Product]:
    """Return the laws of the last input under 30% less and 30% more noise."""
    others = [_made(specimen, factor) for factor in (POWER, 1 / POWER)]
    return [other.law(other.read(specimen.inputs[-1])) for other in others]


def check_release_says_what_it_cost(specimen: Specimen) -> None:
    """Demand that a release carries the guarantee and one of the law's outputs."""
    mechanism = _made(specimen)
    for given in specimen.inputs:
        release = mechanism.release(given)
        _demand(release.cost == mechanism.guarantee, f"the cost is {release.cost}")
        outcome = mechanism.outcome(release)
        possible = mechanism.law(mechanism.read(given)).pmf([outcome])[0] > 0
        _demand(bool(possible), f"the law calls {outcome} impossible")


def check_seeded_release_is_not_private(specimen: Specimen) -> None:
    """Demand that a release from a seeded source costs infinity and says so."""
    mechanism = _made(specimen)
    one, two = (mechanism.release(specimen.inputs[0], source=SeededSource(7)) for _ in range(2))
    _demand(not one.cost.is_private and "NOT PRIVATE" in str(one), f"it says {one.cost}")
    same = np.array_equal(mechanism.outcome(one), mechanism.outcome(two))
    _demand(same, "a seed does not repeat")


def check_bad_epsilon_is_refused(specimen: Specimen) -> None:
    """Demand that a bad epsilon is refused with what must hold, what was given and a hint."""
    for bad in (0, -1, float("nan"), float("inf"), "1", None, True):
        try:
            specimen.make(bad)
        except (ValueError, TypeError) as error:
            said = str(error)
            complete = "epsilon must be" in said and ", got " in said and "Use" in said
            _demand(complete, f"epsilon={bad!r} is refused with: {said}")
        else:
            raise AssertionError(f"epsilon={bad!r} is accepted")


def sampled(mechanism: Mechanism[Any], given: object, draws: int) -> float:
    """Return the p-value of that many draws against the law."""
    return p_value(mechanism.simulate(given, draws), mechanism.law(mechanism.read(given)))


def _made(specimen: Specimen, factor: Fraction | int = 1) -> Mechanism[Any]:
    return specimen.make(Fraction(specimen.epsilon) * factor)


def _chance_above(mechanism: Mechanism[Any], x: Any, draws: int) -> Callable[[float], float]:
    """Return how probable it is that the loss passes a bound.

    All outputs are added up; where there are too many, the chance is at least what is returned,
    but for a probability of `ALPHA`. Where an output has several losses, it is that of the worst.
    """
    law = mechanism.law(x)
    pieces = [factor.followed() for factor in law.factors]
    ends = [(int(p.start[0]), int(p.start[-1] + p.length[-1])) for p in pieces]
    if prod(end - first for first, end in ends) <= MOST_OUTCOMES:
        cells = [np.arange(first, end) for first, end in ends]
        found: NDArray[np.int64] = np.empty((1, 0), np.int64)
        if cells and law is law.factors[0]:
            found = cells[0]
        elif cells:
            every = np.stack(np.meshgrid(*cells, indexing="ij"), axis=-1)
            found = every.reshape(-1, len(cells))
        chances, losses = law.pmf(found), mechanism.loss(x, found).reshape(len(found), -1)
        return lambda bound: float((chances @ (losses > bound)).max())
    from scipy.special import betaincinv

    seen = mechanism.loss(x, mechanism.simulate(x, draws)).reshape(draws, -1)

    def surely(bound: float) -> float:
        passed = int((seen > bound).sum(axis=0).max())
        return float(betaincinv(passed, len(seen) - passed + 1, ALPHA)) if passed else 0.0

    return surely


def _between(worst: Worst, claim: float) -> str:
    return f"between {worst.pair()} for a claim of {claim}"


def _demand(holds: bool, reason: str) -> None:  # noqa: FBT001
    if not holds:
        raise AssertionError(reason)


# ---- One row a mechanism: claimed epsilon, exact worst epsilon, worst pair, sampling verdict -----


@dataclass(frozen=True, slots=True)
class Row:
    """What the audit found of one mechanism.

    Parameters
    ----------
    name
        Its address.
    claim
        What it promises.
    worst
        The pair of neighbours that it tells apart best.
    weaker
        A pair by which a copy that spends ``factor`` times what it says breaks the claim; the worst
        one if none does.
    factor
        How much weaker that copy is.
    p_value
        How well draws for the last input follow the law.
    power
        How well they follow a law with 30% more or less noise: they can tell it from the right one
        if this is below `ALPHA`.
    spread, curve
        The pairs of neighbours whose losses lie furthest apart, and whose whole curve comes
        highest, beside what the parts of the loss claim.
    seconds
        How long the audit took.
    faults
        The reason of every check of the conformance suite that failed; none if it was not run.
    """

    name: str
    claim: Guarantee
    worst: Worst
    weaker: Worst
    factor: Fraction
    p_value: float
    power: float
    spread: Spread
    curve: Passed
    seconds: float
    faults: tuple[str, ...] = ()

    @property
    def reached(self) -> float:
        """The share of the claim that the worst pair reaches."""
        return self.worst.epsilon / float(self.claim.epsilon)

    @property
    def passes(self) -> bool:
        """Whether all claims hold, a weaker copy is caught, and the draws follow the law."""
        caught = not self.weaker.within(self.claim)
        within = self.worst.within(self.claim) and self.spread.holds and self.curve.holds
        return within and caught and self.p_value >= ALPHA and not self.faults


def audit_row(
    specimen: Specimen, epsilon: Fraction | None = None, *, thorough: bool = False
) -> Row:
    """Audit one mechanism: exactly, against a copy that is too weak, and by its draws.

    Parameters
    ----------
    specimen
        What is audited.
    epsilon
        At which epsilon; the specimen's own if left out.
    thorough
        Whether to run the whole conformance suite as well.
    """
    begin = perf_counter()
    if epsilon is not None:
        specimen = replace(specimen, epsilon=epsilon)
    mechanism, weak = _made(specimen), _made(specimen, specimen.weaker)
    claim = mechanism.guarantee
    pairs = list(neighbouring(mechanism, specimen.inputs))
    worst = worst_of(pairs, claim)
    spread, curve = held_by(pairs, mechanism.parts)
    # The worst pair of the mechanism is nearly always one by which the weaker copy is caught.
    likely = (worst.x, worst.y, weak.law(worst.x), weak.law(worst.y))
    others = neighbouring(weak, specimen.inputs)
    draws, power = _drawn_with_power(specimen)
    return Row(
        name=specimen.name, claim=claim, worst=worst,
        weaker=worst_of(chain([likely], others), claim, enough=True), factor=specimen.weaker,
        p_value=p_value(draws, mechanism.law(mechanism.read(specimen.inputs[-1]))), power=power,
        spread=spread, curve=curve, faults=_faults(specimen) if thorough else (),
        seconds=perf_counter() - begin,
    )  # fmt: skip


def _faults(specimen: Specimen) -> tuple[str, ...]:
    """Run the conformance suite and return why checks failed."""
    faults = []
    for check in all_checks():
        try:
            check(specimen)
        except AssertionError as error:
            faults.append(str(error))
    return tuple(faults)


FEWEST_MECHANISMS = 4
"""The number of mechanisms for each process."""


def audit_rows(
    specimens: Sequence[Specimen], *, thorough: bool = False, workers: int | None = None
) -> Iterator[tuple[str, Row | str]]:
    """Yield the name of each mechanism with its row as soon as it is judged.

    A mechanism that needs an extra which is not installed has the reason in place of its row.
    ``thorough`` runs the whole conformance suite as well. ``workers`` processes share the work and
    find specimens by their names; all but the draws is the same whatever their number.
    """
    if workers is None:  # another process pays off with a few mechanisms: it imports everything
        workers = max(1, min(_cores(), len(specimens) // FEWEST_MECHANISMS))
    if workers == 1:
        for specimen in specimens:
            yield specimen.name, _judged(specimen, thorough=thorough)
        return
    # Ctrl-C ends the workers at once and silently; the error is reported by this process.
    pool = ProcessPoolExecutor(
        workers, get_context("spawn"), initializer=signal.signal,
        initargs=(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    try:
        work = {
            pool.submit(_judged_by_name, one.name, thorough=thorough): one.name for one in specimens
        }
        for done in as_completed(work):
            yield work[done], done.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _judged(specimen: Specimen, *, thorough: bool) -> Row | str:
    try:
        return audit_row(specimen, thorough=thorough)
    except MissingExtraError as error:
        return str(error)


def _judged_by_name(name: str, *, thorough: bool) -> Row | str:
    (specimen,) = (one for one in registered() if one.name == name)
    return _judged(specimen, thorough=thorough)


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # macOS and Windows
        return os.cpu_count() or 1


# ---- Attacks on implementations that are private on paper: precision, fork, time -----------------


class Precision(NamedTuple):
    """Share of outputs off the coarse lattice, for the inputs 0 and 1."""

    at_zero: float
    at_one: float

    @property
    def succeeds(self) -> bool:
        """Whether some outputs are possible for one input only: infinite privacy loss."""
        return (self.at_zero == 0) != (self.at_one == 0)


def precision_attack(release: Callable[[float, int], ArrayLike], draws: int = 100_000) -> Precision:
    r"""Tell the inputs 0.0 and 1.0 apart by the last bits of the outputs.

    Of the outputs in (1/4, 1/2), :math:`0 + z` with float noise may be any float, while :math:`1 +
    z` is always a multiple of :math:`2^{-53}`: one output off that lattice betrays the input.
    Noise on a public grid gives the same lattice for both.

    References
    ----------
    .. [1] S. Haney, D. Desfontaines, L. Hartman, R. Shrestha, M. Hay, "Precision-based attacks and
       interval refining: how to break, then fix, differential privacy on finite computers", 2022.
    """

    def off_lattice(x: float) -> float:
        y = np.asarray(release(x, draws), np.float64)
        multiple = np.ldexp(y[(y > 0.25) & (y < 0.5)], 53)
        return float((multiple != np.floor(multiple)).mean()) if len(multiple) else 0.0

    return Precision(off_lattice(0.0), off_lattice(1.0))


def repeats_after_fork(draw: Callable[[], bytes]) -> bool:
    """Return whether a forked child draws the same noise as its parent."""
    draw()  # whatever is buffered is buffered now
    read, write = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the child does nothing but draw
        child = os.fork()
    if child == 0:
        os.write(write, draw())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        theirs = pipe.read()
    os.waitpid(child, 0)
    return draw() == theirs


def timing_leak(release: Callable[[], int], centre: int = 0, calls: int = 20_000) -> float:
    """Return the rank correlation of a release's CPU time with the size of its noise.

    References
    ----------
    .. [1] J. Jin, E. McMurtry, B. Rubinstein, O. Ohrimenko, "Are we there yet? Timing and
       floating-point attacks on differential privacy systems", IEEE S&P 2022.
    """
    for _ in range(100):
        release()
    spent, size = np.empty(calls), np.empty(calls)
    for i in range(calls):
        begin = time.thread_time_ns()
        y = release()
        spent[i] = time.thread_time_ns() - begin
        size[i] = abs(y - centre)
    return rank_correlation(spent, size)


def rank_correlation(a: ArrayLike, b: ArrayLike) -> float:
    """Return Spearman's rho, ties sharing their mean rank."""
    return float(np.corrcoef(_ranks(a), _ranks(b))[0, 1])


def _ranks(values: ArrayLike) -> NDArray[np.float64]:
    _, which, count = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    return np.asarray((last - (count - 1) / 2)[which], np.float64)
