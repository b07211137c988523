"""`Mechanism`: release, law, guarantee and error; transcripts and the audit's registry."""

from __future__ import annotations

import re
from abc import abstractmethod
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from fractions import Fraction
from functools import wraps
from inspect import signature
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import given, rational
from sourdine.mechanisms.inputs import add, read_code, read_ticks
from sourdine.noise import SYSTEM
from sourdine.privacy import Guarantee, Relation
from sourdine.privacy.accounting.parts import of_promise
from sourdine.results.release import Display, Estimator, Release, flat, read_confidence
from sourdine.results.tables import Columns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from sourdine.exact import Number
    from sourdine.laws import Law, Product
    from sourdine.mechanisms.inputs import Value
    from sourdine.noise import Source
    from sourdine.privacy import Part


# ---- Transcripts ---------------------------------------------------------------------------------
#
# A transcript lists the mechanisms that a call ran, their inputs and their outputs. An audit
# records a whole public call on one data set and replays it on a neighbour, where every mechanism
# answers as it did before. The two transcripts then show, step by step, how far the private inputs
# moved. Outside an audit no transcript exists.


@dataclass(frozen=True, slots=True)
class Step:
    """One mechanism's private input and its answer."""

    mechanism: Any
    x: Any
    answer: Any


@dataclass(slots=True)
class Transcript:
    """The steps of one call; with the ``script`` of an earlier call, its answers are replayed."""

    script: tuple[Step, ...] = ()
    steps: list[Step] = field(default_factory=list)

    def answer(self, mechanism: object, x: object, draw: Callable[[], Any]) -> Any:
        """Return the scripted answer of this step, or draw one; record the step."""
        i = len(self.steps)
        given = self.script[i].answer if i < len(self.script) else draw()
        self.steps.append(Step(mechanism, x, given))
        return given


CURRENT: ContextVar[Transcript | None] = ContextVar("transcript", default=None)


@contextmanager
def recording(script: tuple[Step, ...] = ()) -> Iterator[Transcript]:
    """Record the mechanisms that run inside, answering from ``script`` while it lasts."""
    transcript = Transcript(script)
    token = CURRENT.set(transcript)
    try:
        yield transcript
    finally:
        CURRENT.reset(token)


# ---- The interface of a mechanism ----------------------------------------------------------------
#
# ``release``    draws, exactly, and states the cost
# ``law``        the whole output distribution, exactly: the oracle of ``release``
# ``guarantee``  epsilon, delta and the neighbouring relation, fixed at construction
# ``error``      a bound on ``loss`` before anything is spent
#
# Two definitions give the claims their meaning: ``neighbours(x)`` are the inputs that the guarantee
# compares with ``x``, and ``loss(x, y)`` is how wrong the output ``y`` is for ``x``. So every claim
# can be checked by a program: `sourdine.audit` finds every mechanism and does so.


X = TypeVar("X")

WIDEST = 1 << 55
RAREST = Fraction(1, 10**15)
FINEST = 1 << 12
"""The maximum number of cells of a tally; finer reports share them."""


def _of_what_is_read(law: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Return ``law`` for any input that `Mechanism.release` accepts."""
    if hasattr(law, "__wrapped__"):  # attrs makes the class again from the attributes of the first
        return law

    @wraps(law)
    def of(self: Any, x: object) -> Any:
        return law(self, self.read(x))

    return of


class Mechanism(Estimator, Generic[X]):
    """The base class; a mechanism is a frozen subclass with its public parameters as fields."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def guarantee(self) -> Guarantee:
            """The guarantee, fixed by the parameters: a field, or derived from them."""

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts of its privacy loss: by default, the guarantee alone."""
        return of_promise(self.guarantee)

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "law" in vars(cls):
            cls.law = _of_what_is_read(cls.law)  # type: ignore[method-assign,assignment]

    @abstractmethod
    def read(self, x: object) -> X:
        """Return the input in its standard form, refusing a wrong type but never a value."""

    @abstractmethod
    def law(self, x: X) -> Law | Product:
        """Return the distribution of the output for an input of `release` or a result of `read`.

        It holds private data.
        """

    @abstractmethod
    def error(self, beta: Number = 0.05) -> float:
        """Return a bound that ``loss`` exceeds with probability at most ``beta``, for any ``x``."""

    @abstractmethod
    def loss(self, x: X, y: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return how wrong each output ``y`` is for the input ``x``."""

    @abstractmethod
    def neighbours(self, x: X) -> Iterator[X]:
        """Yield every input that the guarantee compares with ``x``."""

    @abstractmethod
    def draw(self, x: X, size: int | None, source: Source) -> Value:
        """Draw ``size`` independent outputs for ``x``; with None, one, as an int or a vector."""

    def adjacent(self, x: X, y: X) -> bool:
        """Return whether the guarantee compares ``x`` with ``y``."""
        return any(np.array_equal(np.asarray(y), np.asarray(z)) for z in self.neighbours(x))

    def release(self, x: object, *, source: Source = SYSTEM) -> Release:
        """Draw one output and spend the guarantee."""
        tape, value = CURRENT.get(), self.read(x)
        if tape is None:
            drawn = self.draw(value, None, source)
        else:
            drawn = tape.answer(self, value, lambda: self.draw(value, None, source))
        cost = self.guarantee if source.private else Guarantee.none(self.guarantee.relation)
        return Release(value=drawn, cost=cost, mechanism=self)

    def release_all(self, xs: Sequence[object], *, source: Source = SYSTEM) -> list[Any]:
        """Draw one output for each input, each under the guarantee; return the outputs.

        The same as `release` of each, but the noise may come from one call. In an audit each is a
        step of its own.
        """
        if len(xs) == 1 or CURRENT.get() is not None:
            return [self.release(x, source=source).value for x in xs]
        return self.draw_all([self.read(x) for x in xs], source)

    def draw_all(self, xs: Sequence[X], source: Source) -> list[Any]:
        """Draw one output for each input, independently."""
        return [self.draw(x, None, source) for x in xs]

    def simulate(self, x: object, size: int, *, source: Source = SYSTEM) -> NDArray[np.int64]:
        """Draw many times for one public input, for inspection or tests: not a release."""
        return np.asarray(self.draw(self.read(x), size, source))

    def outcome(self, release: Release) -> Any:
        """Return the outcome of a release in terms of `law`."""
        return int(release.value)

    def outcomes_of(self, releases: Sequence[Release]) -> NDArray[np.int64]:
        """Return the outcomes of releases in terms of `law`."""
        return np.array([self.outcome(release) for release in releases])

    def interval(self, value: Value, confidence: Number) -> tuple[Value, Value]:
        """Return a confidence interval for the truth."""
        raise ParameterTypeError(
            "interval",
            f"interval() is not available for {type(self).__name__}, whose output is not a number.",
            type(self).__name__,
            "Use error(0.05) of the mechanism.",
        )

    @property
    def display(self) -> Display:
        return Display(head="value", populations=False)

    def limits(self, release: Release, beta: float, of: str) -> tuple[Value, Value]:
        del of
        return self.interval(release.value, 1 - rational(beta, "beta"))

    def columns(self, release: Release) -> Columns:
        """Return the value alone: a choice has no interval."""
        return Columns(labels={}, name=self.display.head, values=flat(release.value))

    def plot(self, release: Release, **options: object) -> object:
        """Raise: the output of a mechanism has no chart of its own."""
        del release, options
        raise ParameterTypeError(
            "plot",
            "plot() is not available for the output of a mechanism.",
            "",
            "Plot the release of a statistic, such as sourdine.mean.",
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the mechanism's name: only statistics can be rebuilt."""
        return {"statistic": type(self).__name__}

    def __str__(self) -> str:
        public = {name: getattr(self, name) for name in signature(type(self)).parameters}
        shown = [f"{k}={_plain(v)}" for k, v in public.items() if not isinstance(v, Relation)]
        return f"{type(self).__name__}({', '.join(shown)})"


class Additive(Mechanism[X]):
    """A mechanism that adds symmetric noise: its error is the interval's half-width.

    The error of a vector is that of each of its numbers.
    """

    __slots__ = ()

    def outcome(self, release: Release) -> Any:
        value = release.value
        return value if isinstance(value, int) else np.ravel(value)

    def loss(self, x: X, y: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the distance from the truth, of each number of a vector."""
        return np.asarray(np.abs(y - np.asarray(x)), np.float64)

    def interval(self, value: Value, confidence: Number) -> tuple[Value, Value]:
        """Return value plus and minus the error at ``1 - confidence``."""
        half = int(self.error(read_confidence(confidence)))
        return add(value, -half), add(value, half)


class Report(Mechanism[int]):
    """One person's answer, a code from 0 to ``top``: any two answers are neighbours.

    `randomise` takes the codes of many people at once and draws a report for each from that
    person's code alone. Reports are integers, or rows of bytes where an answer is many bits.
    They are added up in a `tally` of public length, which is all that an estimator needs.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def top(self) -> int:
        """The highest code."""

    @abstractmethod
    def law(self, x: int) -> Law:
        """Return the distribution of the report of a code."""

    @abstractmethod
    def reports(self, codes: NDArray[np.int64], source: Source) -> NDArray[Any]:
        """Draw one report for each person, from codes that are known to be 0 to ``top``."""

    def randomise(self, codes: object, *, source: Source = SYSTEM) -> NDArray[Any]:
        """Draw one report for each person; codes outside 0 to ``top`` count as the nearest end."""
        whole = isinstance(codes, np.ndarray) and codes.dtype.kind in "iu"
        given = np.atleast_1d(np.asarray(codes if whole else read_ticks(codes)))
        highest = given.view(np.uint64).max(initial=0) if given.dtype == np.int64 else np.inf
        fits = highest <= self.top
        read = given if fits else np.clip(given, 0, self.top).astype(np.int64, copy=False)
        tape = CURRENT.get()
        if tape is None:
            return self.reports(read, source)
        drawn: NDArray[Any] = tape.answer(self, read, lambda: self.reports(read, source))
        return drawn

    @property
    def codes(self) -> int:
        """The number of different reports, if they are integers from 0."""
        return self.top + 1

    @property
    def block(self) -> int:
        """The number of neighbouring reports that share a cell of the tally."""
        return -(-self.codes // FINEST)

    @property
    def cells(self) -> int:
        return -(-self.codes // self.block)

    def tally(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        """Count reports; tallies of the same mechanism may be added."""
        cell = reports if self.block == 1 else reports // self.block
        return np.bincount(cell, minlength=self.cells)

    def valid(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which reports, from any source, this mechanism could have drawn."""
        inside: NDArray[np.bool_] = (reports >= 0) & (reports < self.codes)
        return inside

    def outcomes(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        """Return the outcomes of reports in terms of `law`."""
        return reports.astype(np.int64, copy=False)

    @property
    def bits(self) -> int:
        return (self.codes - 1).bit_length()

    def read(self, x: object) -> int:
        """Return a code; values outside 0 to ``top`` count as the nearest end."""
        return read_code(x, self.top)

    def draw(self, x: int, size: int | None, source: Source) -> Value:
        drawn = self.outcomes(self.reports(np.full(1 if size is None else size, x), source))
        return int(drawn[0]) if size is None else drawn

    def neighbours(self, x: int) -> Iterator[int]:
        del x
        yield from range(self.top + 1)

    def adjacent(self, x: Any, y: Any) -> bool:
        """Return whether both are codes; for the codes of many people, whether one changed."""
        a, b = np.atleast_1d(x), np.atleast_1d(y)
        one = a.shape == b.shape and np.count_nonzero(a != b) <= 1
        return bool(one and min(a.min(), b.min()) >= 0 and max(a.max(), b.max()) <= self.top)


def settle(mechanism: object, **values: object) -> None:
    """Set fields of a frozen dataclass, once, from ``__post_init__``."""
    for name, value in values.items():
        object.__setattr__(mechanism, name, value)


def read_beta(beta: object) -> float:
    """Return the probability with which an error bound may be exceeded."""
    chance = rational(beta, "beta", example=0.05)
    if not RAREST <= chance <= 1:
        raise ParameterError(
            "beta",
            "be from 1e-15 to 1",
            given(beta),
            "Use a probability, such as {beta}.",
            beta=0.05,
        )
    return float(chance)


def read_scale(scale: Fraction) -> Fraction:
    r"""Validate a scale of noise: 64 bits must hold every draw that could ever occur.

    Beyond, draws would be clamped to 64 bits and reveal the value. At :math:`2^{55}` that has
    probability :math:`e^{-256}`, less than guessing a key of 256 bits.
    """
    if scale >= WIDEST:
        raise ParameterError(
            "the noise's scale",
            "be below 2**55 ticks",
            given(scale),
            "Use a coarser grid, or a larger epsilon.",
        )
    return scale


def _plain(value: object) -> str:
    """Return a parameter as a user would type it."""
    if isinstance(value, Fraction):
        decimal = repr(float(value)) if value.denominator > 1 else str(value)
        return decimal if Fraction(decimal) == value else str(value)
    return getattr(value, "__name__", str(value))


# ---- Specimens for the audit ---------------------------------------------------------------------
#
# A specimen is a mechanism at a setting small enough to audit completely. It has the address
# ``family.method``, or ``family.method.variant``, where the method is what a user types: quantiles
# by ``method="hybrid"`` are audited as ``quantiles.hybrid``, a number reported by ``"hybrid"`` as
# ``number.hybrid``. A prefix of an address selects all that begin with it.


FAMILIES = {
    "noise": "noise added to numbers",
    "choice": "one of several candidates",
    "sample": "a mechanism on a part of the records",
    "count": "sourdine.count",
    "sum": "sourdine.sum",
    "mean": "sourdine.mean",
    "variance": "sourdine.variance",
    "std": "sourdine.std",
    "covariance": "sourdine.covariance",
    "correlation": "sourdine.correlation",
    "regression": "sourdine.regression",
    "proportion": "sourdine.proportion",
    "histogram": "sourdine.histogram",
    "mode": "sourdine.mode",
    "table": "sourdine.table",
    "sql": "sourdine.sql",
    "quantiles": "sourdine.quantiles, by its methods",
    "category": "one person's category",
    "number": "one person's number",
    "rounds": "one person's answers in several rounds",
    "absent": "one person's answer that may be absent",
    "density": "one person's value, for a density",
}
"""The first part of every address, in the order of the audit's table."""

ADDRESS = re.compile(r"[a-z]+(\.[a-z0-9_-]+)+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Specimen:
    """A mechanism at one setting, and inputs whose neighbours include a worst case.

    Parameters
    ----------
    name
        Its address.
    make
        Builds the mechanism for an epsilon: the audit also builds one that is too weak, which must
        be rejected on the same inputs.
    inputs
        The inputs whose every neighbour is compared.
    tight
        Whether the worst pair reaches the claim, to 1e-9.
    draws
        The number of draws that are compared with the law: fewer where a draw takes long.
    epsilon
        The epsilon of the audit. Some worst cases come near the claim only at a large epsilon.
    weaker
        A copy that spends this many times its stated epsilon must be rejected. Above 1.05 only
        where no input of a small domain comes near the claim; the file says why.
    also
        Further addresses: statistics and methods that use it.
    """

    name: str
    make: Callable[[Any], Mechanism[Any]]
    inputs: Sequence[Any]
    tight: bool
    draws: int = 100_000
    epsilon: Fraction | int = 1
    weaker: Fraction = Fraction(21, 20)
    also: tuple[str, ...] = ()

    @property
    def addresses(self) -> tuple[str, ...]:
        """All addresses, its own first."""
        return (self.name, *self.also)


_SPECIMENS: dict[str, Specimen] = {}


def register(specimen: Specimen) -> None:
    """Register a specimen, which is audited from then on.

    Examples
    --------
    >>> from sourdine.mechanisms import Laplace
    >>> register(Specimen(name="laplace", make=Laplace, inputs=(0,), tight=True))
    Traceback (most recent call last):
    ...
    sourdine.errors.ParameterError: name must be of the form family.method, got 'laplace'. Use 'noise.mine', for example.
    """  # noqa: E501
    for address in specimen.addresses:
        if not ADDRESS.fullmatch(address) or address.partition(".")[0] not in FAMILIES:
            raise ParameterError(
                "name",
                "be of the form family.method",
                repr(address),
                "Use 'noise.mine', for example.",
            )
    if specimen.name in _SPECIMENS:
        raise ParameterError(
            "name", "be new", given(specimen.name), "Choose another name for the specimen."
        )
    _SPECIMENS[specimen.name] = specimen


def entered() -> tuple[Specimen, ...]:
    """Return the registered specimens of all imported modules, in the order of the families."""
    order = list(FAMILIES)
    return tuple(
        sorted(_SPECIMENS.values(), key=lambda s: (order.index(s.name.split(".")[0]), s.name))
    )
