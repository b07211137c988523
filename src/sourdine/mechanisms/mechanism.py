"""`Mechanism`: release, law, guarantee and error; what mechanisms read; specimens for the audit."""

from __future__ import annotations

import numbers
import re
from abc import abstractmethod
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, wraps
from inspect import signature
from itertools import product
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeGuard, TypeVar

import attrs
import numpy as np
from attrs import frozen

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import flag, given, integer, kind, one_of, positive, rational
from sourdine.noise import SYSTEM
from sourdine.noise.source import KEY_BYTES, KeyedSource
from sourdine.privacy import LOCAL, Guarantee, Relation
from sourdine.privacy.accounting.parts import of_promise
from sourdine.results.release import Display, Estimator, Release, flat, read_confidence
from sourdine.results.tables import Columns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from sourdine.exact import Number
    from sourdine.laws import Law, Product
    from sourdine.noise import Source
    from sourdine.privacy import Part

    Value = int | NDArray[np.int64]


# ---- Private inputs: a wrong type is refused, a value never is -----------------------------------
#
# Ticks are integers. Values beyond 64 bits, or outside a public domain, are moved to the nearest
# end; clamping every input to fixed ends moves no two inputs further apart.


ENDS = np.iinfo(np.int64)
HIGHEST_TICK = 1 << 40
REACH = 1 << 61  # vectors stay within, so that differences of two entries stay within 64 bits


def read_ticks(x: object) -> Value:
    """Return an integer, or an array of integers."""
    if type(x) is int:
        return x
    if _whole(x):
        return int(x)
    ticks = np.asarray(x, object) if isinstance(x, (list, tuple)) else np.asarray(x)
    if ticks.dtype.kind == "O" and all(_whole(v) for v in ticks.flat):
        clipped = [min(max(int(v), ENDS.min), ENDS.max) for v in ticks.flat]
        return np.array(clipped, np.int64).reshape(ticks.shape)
    if ticks.dtype.kind not in "iu":
        must, hint = "be whole numbers (ticks of a grid)", "Grid(0, 100, step=1).ticks(values)"
        raise ParameterTypeError("the input", must, _kind(x), f"Snap values first: use {hint}.")
    return int(ticks) if ticks.ndim == 0 else np.minimum(ticks, ENDS.max).astype(np.int64)


def read_one(x: object) -> int:
    tick = read_ticks(x)
    if not isinstance(tick, int):
        hint = "Release the numbers separately, or use Laplace with the L1 sensitivity."
        raise ParameterTypeError("the input", "be one number", "an array", hint)
    return tick


def read_code(x: object, last: int) -> int:
    """Return a code from 0 to ``last``; other values are moved to the nearest end."""
    scalar = np.ndim(x) == 0 if isinstance(x, np.ndarray) else not isinstance(x, (list, tuple))
    if not scalar or not (_whole(x) or isinstance(x, np.ndarray)):
        hint = "Code the answers as 0, 1, 2, ... and release them separately."
        raise ParameterTypeError("the input", f"be one code from 0 to {last}", _kind(x), hint)
    return min(max(int(read_ticks(x)), 0), last)


def read_vector(x: object, length: int, name: str) -> NDArray[np.int64]:
    """Return a vector of integers of a public length, each within 2**61 of zero."""
    vector = np.atleast_1d(np.asarray(read_ticks(x), object))
    if vector.shape != (length,):
        must, got = f"be a vector of {length} whole numbers", f"an array of shape {vector.shape}"
        hint = "Its length is public: construct the mechanism with it."
        raise ParameterTypeError(name, must, got, hint)
    return np.asarray(np.clip(vector, -REACH, REACH), np.int64)


def add(x: Value, k: Value) -> Value:
    """Return x + k; arrays saturate at the ends of int64 instead of wrapping around."""
    if isinstance(x, int) and isinstance(k, int):
        return x + k
    if isinstance(x, int):
        x = min(max(x, ENDS.min), ENDS.max)
    x, k = np.asarray(x, np.int64), np.asarray(k, np.int64)
    with np.errstate(over="ignore"):
        total = x + k
    wrapped = ((x ^ total) & (k ^ total)) < 0
    return np.where(wrapped, np.where(k < 0, ENDS.min, ENDS.max), total)


def _whole(x: object) -> TypeGuard[numbers.Integral]:
    return isinstance(x, numbers.Integral) and not isinstance(x, bool)


def _kind(x: object) -> str:
    return f"an array of {x.dtype}" if isinstance(x, np.ndarray) else kind(x)


# ---- Vectors of scores, answers or numbers, and their neighbours ---------------------------------


def moved(x: NDArray[np.int64], reach: int, *, monotone: bool) -> Iterator[NDArray[np.int64]]:
    """Yield all vectors whose every entry is at most ``reach`` from that of ``x``.

    If monotone, all entries move in one direction.
    """
    up, down = range(reach + 1), range(-reach, 1)
    for steps in (up, down) if monotone else (range(-reach, reach + 1),):
        for step in product(steps, repeat=len(x)):
            yield x + np.array(step)


def within(x: NDArray[np.int64], reach: int, *, norm: int) -> Iterator[NDArray[np.int64]]:
    """Yield all vectors at most ``reach`` from ``x`` in the L1 or the L2 norm."""
    for step in product(range(-reach, reach + 1), repeat=x.size):
        if sum(abs(k) ** norm for k in step) <= reach**norm:
            yield x + np.array(step).reshape(x.shape)


def may_move(x: NDArray[np.int64], y: NDArray[np.int64], reach: int, *, monotone: bool) -> bool:
    """Return whether ``y`` is one of the vectors that `moved` yields for ``x``."""
    step = y - x
    one_way = not monotone or (step >= 0).all() or (step <= 0).all()
    return bool(one_way and np.abs(step).max() <= reach)


# ---- Converters of shared parameters -------------------------------------------------------------
#
# A converter is named after its parameter, as its errors are. It is the only place where the
# parameter is converted, so a field holds what its annotation says.


LEAST = Fraction(1, 10**100)

Minimise = Literal["l1", "l2"]


def epsilon(x: Number) -> Fraction:
    """Return the privacy loss, above 0."""
    return positive(x, "epsilon")


def delta(x: Number) -> Fraction:
    """Return the probability with which the loss may exceed epsilon, above 0 and below 1."""
    value = positive(x, "delta", example=1e-6)
    if value >= 1:
        hint = "Use a small number, such as {delta}."
        raise ParameterError("delta", "be below 1", given(x), hint, delta=1e-6)
    if value < LEAST:
        hint = "Use {delta}, or use Laplace, which needs no delta."
        raise ParameterError("delta", "be at least 1e-100", given(x), hint, delta=1e-6)
    return value


def read_last(x: int, least: int = 1) -> int:
    """Return the highest tick of an interval, small enough for 64 bits."""
    value = integer(x, "last", least=least)
    if value > HIGHEST_TICK:
        hint = "Use the highest tick of a coarser grid, such as {last}."
        raise ParameterError("last", "be at most 2**40", given(value), hint, last=1000)
    return value


def sensitivity(x: Number) -> Fraction:
    return positive(x, "sensitivity")


def whole_sensitivity(x: int) -> int:
    """Return the number of ticks by which an input can change."""
    return integer(x, "sensitivity", least=1)


def relation(x: Relation | str) -> Relation:
    return Relation.read(x)


def rows(x: int) -> int:
    """Return the number of records that one person may own."""
    return integer(x, "rows", least=1)


def monotone(x: bool) -> bool:  # noqa: FBT001 - as it is given
    """Return whether all scores change in one direction between neighbours."""
    return flag(x, "monotone")


def minimise(x: Minimise) -> Minimise:
    """Return which mean loss is minimised."""
    return one_of(x, "minimise", "l1", "l2")


# ---- Transcripts ---------------------------------------------------------------------------------
#
# A transcript lists the mechanisms that a call ran, their inputs and their outputs. An audit
# records a whole public call on one data set and replays it on a neighbour, where every mechanism
# answers as it did before. The two transcripts then show, step by step, how far the private inputs
# moved. Which rows of a person are kept is decided by a secret key, not by a mechanism: a guarantee
# holds for every key, so both runs have the same ones. Outside an audit no transcript exists.


class Step(NamedTuple):
    """One mechanism's private input and its answer."""

    mechanism: Any
    x: Any
    answer: Any


@dataclass(slots=True)
class Transcript:
    """The steps of one call; with the ``script`` of an earlier call, its answers are replayed.

    ``secret`` makes the keys of the call; with that of an earlier call, they are its keys.
    """

    script: tuple[Step, ...] = ()
    secret: bytes = field(default_factory=lambda: SYSTEM.bytes(KEY_BYTES), repr=False)
    steps: list[Step] = field(default_factory=list)
    keys: KeyedSource = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.keys = KeyedSource(self.secret)

    def answer(self, mechanism: object, x: object, draw: Callable[[], Any]) -> Any:
        """Return the scripted answer of this step, or draw one; record the step."""
        i = len(self.steps)
        given = self.script[i].answer if i < len(self.script) else draw()
        self.steps.append(Step(mechanism, x, given))
        return given


CURRENT: ContextVar[Transcript | None] = ContextVar("transcript", default=None)


@contextmanager
def recording(earlier: Transcript | None = None) -> Iterator[Transcript]:
    """Record the mechanisms that run inside, with the answers and keys of an ``earlier`` call."""
    transcript = Transcript(tuple(earlier.steps), earlier.secret) if earlier else Transcript()
    token = CURRENT.set(transcript)
    try:
        yield transcript
    finally:
        CURRENT.reset(token)


def source_of_keys(source: Source) -> Source:
    """Return the source of the keys that choose rows: ``source``, or that of the transcript."""
    transcript = CURRENT.get()
    return source if transcript is None else transcript.keys


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
FINEST = 1 << 12  # the maximum number of cells of a tally; finer reports share them


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
        name = type(self).__name__
        must = f"interval() is not available for {name}, whose output is not a number."
        raise ParameterTypeError("interval", must, name, "Use error(0.05) of the mechanism.")

    @property
    def display(self) -> Display:
        return Display(head="value", populations=False)

    def limits(self, release: Release, beta: float, of: str) -> tuple[Value, Value]:
        return self.interval(release.value, 1 - rational(beta, "beta"))

    def columns(self, release: Release) -> Columns:
        """Return the value alone: a choice has no interval."""
        return Columns(labels={}, name=self.display.head, values=flat(release.value))

    def plot(self, release: Release, **options: object) -> object:
        """Raise: the output of a mechanism has no chart of its own."""
        must = "plot() is not available for the output of a mechanism."
        hint = "Plot the release of a statistic, such as sourdine.mean."
        raise ParameterTypeError("plot", must, "", hint)

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
        return np.asarray((reports >= 0) & (reports < self.codes))

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
        yield from range(self.top + 1)

    def adjacent(self, x: Any, y: Any) -> bool:
        """Return whether both are codes; for the codes of many people, whether one changed."""
        a, b = np.atleast_1d(x), np.atleast_1d(y)
        one = a.shape == b.shape and np.count_nonzero(a != b) <= 1
        return bool(one and min(a.min(), b.min()) >= 0 and max(a.max(), b.max()) <= self.top)


@frozen(kw_only=True)
class PureReport(Report):
    """A report whose one parameter of privacy is its epsilon."""

    epsilon: Fraction = attrs.field(converter=epsilon)

    @cached_property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, 0, LOCAL)


@frozen(kw_only=True)
class TickReport(PureReport):
    """A report of a tick from 0 to ``last``, as wrong as it is far from the truth.

    Parameters
    ----------
    epsilon
        The privacy loss of one report, above 0.
    last
        The highest tick :math:`m`; inputs outside 0 to m count as the nearest end.
    """

    last: int = attrs.field(converter=read_last)

    @property
    def top(self) -> int:
        return self.last

    def loss(self, x: int, y: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.abs(y - x).astype(np.float64)


def settle(mechanism: object, **values: object) -> None:
    """Set fields of a frozen dataclass, once, from ``__post_init__``."""
    for name, value in values.items():
        object.__setattr__(mechanism, name, value)


def read_beta(beta: object) -> float:
    """Return the probability with which an error bound may be exceeded."""
    chance = rational(beta, "beta", example=0.05)
    if not RAREST <= chance <= 1:
        hint = "Use a probability, such as {beta}."
        raise ParameterError("beta", "be from 1e-15 to 1", given(beta), hint, beta=0.05)
    return float(chance)


def read_scale(scale: Fraction) -> Fraction:
    r"""Validate a scale of noise: 64 bits must hold every draw that could ever occur.

    Beyond, draws would be clamped to 64 bits and reveal the value. At :math:`2^{55}` that has
    probability :math:`e^{-256}`, less than guessing a key of 256 bits.
    """
    if scale >= WIDEST:
        hint = "Use a coarser grid, or a larger epsilon."
        raise ParameterError("the noise's scale", "be below 2**55 ticks", given(scale), hint)
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


FAMILIES = {  # the first part of every address, in the order of the audit's table
    "noise": "noise added to numbers",
    "choice": "one of several candidates",
    "sample": "a mechanism on a part of the records",
    **{name: f"sourdine.{name}" for name in (
        "count", "sum", "mean", "variance", "std", "covariance", "correlation", "regression",
        "proportion", "histogram", "mode", "table", "sql",
    )},
    "quantiles": "sourdine.quantiles, by its methods",
    "category": "one person's category",
    "number": "one person's number",
    "rounds": "one person's answers in several rounds",
    "absent": "one person's answer that may be absent",
    "density": "one person's value, for a density",
}  # fmt: skip

ADDRESS = re.compile(r"[a-z]+(\.[a-z0-9_-]+)+")


@dataclass(frozen=True, slots=True)
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
    tight: bool = True
    draws: int = 100_000
    epsilon: Fraction | int = 1
    weaker: Fraction = Fraction(21, 20)
    also: tuple[str, ...] = ()

    @property
    def addresses(self) -> tuple[str, ...]:
        """All addresses, its own first."""
        return (self.name, *self.also)


_SPECIMENS: dict[str, Specimen] = {}


def register(*specimens: Specimen) -> None:
    """Register specimens, which are audited from then on.

    Examples
    --------
    >>> from sourdine.mechanisms import Laplace
    >>> register(Specimen(name="laplace", make=Laplace, inputs=(0,), tight=True))
    Traceback (most recent call last):
    ...
    sourdine.errors.ParameterError: name must be of the form family.method, got 'laplace'. Use 'noise.mine', for example.
    """  # noqa: E501
    for specimen in specimens:
        for address in specimen.addresses:
            if not ADDRESS.fullmatch(address) or address.partition(".")[0] not in FAMILIES:
                must, hint = "be of the form family.method", "Use 'noise.mine', for example."
                raise ParameterError("name", must, repr(address), hint)
        if specimen.name in _SPECIMENS:
            hint = "Choose another name for the specimen."
            raise ParameterError("name", "be new", given(specimen.name), hint)
        _SPECIMENS[specimen.name] = specimen


def entered() -> tuple[Specimen, ...]:
    """Return the registered specimens of all imported modules, in the order of the families."""
    order = list(FAMILIES)
    found = _SPECIMENS.values()
    return tuple(sorted(found, key=lambda s: (order.index(s.name.split(".")[0]), s.name)))
