"""`RobustF2`: a second-moment sketch for adaptive streams, and its proof."""

from __future__ import annotations

import struct
from fractions import Fraction
from hashlib import shake_128
from math import exp, isnan, log, nan, sqrt
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeGuard, Union

import numpy as np

from sourdine import noise as samplers
from sourdine.adaptive.information import bisected, largest
from sourdine.adaptive.robust.proof import Proof, divergence_from
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import at_least, integer, kind, number
from sourdine.noise import SYSTEM
from sourdine.results.release import beta_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from sourdine.exact import Number
    from sourdine.noise import Source


# ---- Items as bytes: equal where they are the same item, different where they are not ------------
#
# A canonical encoding starts with a letter for the kind, so no two kinds ever meet: ``1``, ``1.0``,
# ``"1"``, ``b"1"`` and ``True`` are five items. NumPy's scalars count as the Python values they
# hold (``np.int64(1)`` is ``1``, ``np.str_("a")`` is ``"a"``); dates are refused, since what number
# they hold depends on their unit. Floats count by value: ``-0.0`` is ``0.0``, and all NaNs are one
# item. Text is taken as it is, without Unicode normalisation: a person who wants ``"é"`` in one
# form says so before. A tuple is the list of its parts, each with its length, so ``("ab", "c")``
# and ``("a", "bc")`` differ.


Item: TypeAlias = Union[int, str, bytes, float, bool, "tuple[Item, ...]", None]


def is_whole(item: object) -> TypeGuard[int]:
    return isinstance(item, (int, np.integer)) and not isinstance(item, bool)


def encoded(item: Item) -> bytes:  # noqa: PLR0911 - one return for each kind
    r"""Return the canonical bytes of an item."""
    match item:
        case str():
            return b"s" + item.encode("utf-8", "surrogatepass")
        case bytes() | bytearray() | memoryview():
            return b"b" + bytes(item)
        case bool() | np.bool():
            return b"t" if item else b"f"
        case int() | np.integer():
            whole = int(item)
            return b"i" + whole.to_bytes(whole.bit_length() // 8 + 1, "little", signed=True)
        case float() | np.floating():
            return b"d" + struct.pack("<d", nan if isnan(item) else float(item) + 0.0)
        case None:
            return b"n"
        case tuple():
            parts = [encoded(part) for part in item]
            return b"l" + b"".join(len(p).to_bytes(8, "little") + p for p in parts)
    must = "be a number, a text, bytes, None or a tuple of these"
    hint = "Use keyed.update(repr(item)) for other types."
    raise ParameterTypeError("an item", must, kind(item), hint)


# ---- Secret signs: a long row of :math:`\pm 1` for every item, from one key ----------------------


KEY_BITS = 128


class Signs:
    r"""The signs :math:`s_1(x), \ldots, s_r(x)` of any item :math:`x`, as bits (1 means +).

    The bits of an item are the output of SHAKE128 [1]_ on the key followed by the item's canonical
    bytes. Without the key nobody can tell them from independent fair coins unless
    SHAKE128 is broken; every statement below about independent signs stands on that.

    An item has ``width`` signs; the secret ``seed`` is from 0 to :math:`2^{128} - 1`.

    References
    ----------
    .. [1] NIST, "SHA-3 standard: permutation-based hash and extendable-output functions",
       FIPS 202, 2015.
    """

    __slots__ = ("_digest_bytes", "_keyed", "seed", "width")

    def __init__(self, width: int, seed: int) -> None:
        self.width = integer(width, "width", least=1, most=1 << 30)
        self.seed = integer(seed, "seed", least=0)
        if self.seed >> KEY_BITS:
            hint = "Use secrets.randbits(128), or a small number such as {seed} for an experiment."
            raise ParameterError("seed", f"be below 2**{KEY_BITS}", "", hint, seed=1)
        self._keyed = shake_128(self.seed.to_bytes(KEY_BITS // 8, "little"))
        self._digest_bytes = -(-self.width // 8)

    def bits(self, item: Item) -> NDArray[np.uint8]:
        stream = self._keyed.copy()
        stream.update(encoded(item))
        digest = np.frombuffer(stream.digest(self._digest_bytes), np.uint8)
        return np.unpackbits(digest, count=self.width)


# ---- The tug-of-war sketch of the second moment :math:`F_2 = \sum_x f_x^2` -----------------------
#
# :math:`f_x` is the sum of the weights that item :math:`x` was given, negative ones included. The
# square root of :math:`F_2` is the length of the vector; over a stream of single items it is the
# size of a self-join.


HEAVIEST = 1 << 61
"""The largest sum of absolute weights in one sketch, so that no counter can overflow."""


class F2Sketch(Protocol):
    """What is asked of a sketch of the second moment."""

    def update(self, item: Item, weight: int = 1) -> None:
        """Add a weight to an item."""

    def query(self) -> float:
        """Return an estimate of the second moment."""


def tail(epsilon: float, width: int) -> float:
    r"""Return :math:`e^{-r(\epsilon^2/4 - \epsilon^3/6)}`, a bound of either tail of the mean.

    For :math:`0 < \epsilon \le 1`: the mean of :math:`r` independent squares :math:`z_i^2` passes
    :math:`(1 + \epsilon)F_2` with this probability at most, and falls below
    :math:`(1 - \epsilon)F_2` with this probability at most [1]_.

    References
    ----------
    .. [1] D. Achlioptas, "Database-friendly random projections: Johnson-Lindenstrauss with binary
       coins", J. Comput. Syst. Sci. 66, 2003 (lemma 5.1 and what follows).
    """
    return float(np.exp(-width * (epsilon**2 / 4 - epsilon**3 / 6)))


class AmsSketch:
    r"""Counters :math:`z_i = \sum_x s_i(x) f_x` with random signs; the mean of their squares.

    Parameters
    ----------
    width
        How many counters, :math:`r`.
    seed
        The secret key of the signs. An answer depends on it, so a sketch with a seed that somebody
        knows tells that person how to deceive it.

    Notes
    -----
    *Claim*: for every vector chosen before the first answer,
    :math:`E z_i^2 = F_2` and :math:`\operatorname{Var} z_i^2 \le 2F_2^2` [1]_, so the estimate is
    off by more than `error(beta)` with probability ``beta`` at most. *Checked by*
    ``test_plain_error_bound_holds``.

    For a vector that depends on earlier answers nothing holds: `sourdine.adaptive.attacks`
    halves the estimate of a sketch of 20,000 counters in 10,000 questions.
    ``test_probes_break_a_plain_sketch``.

    References
    ----------
    .. [1] N. Alon, Y. Matias, M. Szegedy, "The space complexity of approximating the frequency
       moments", J. Comput. Syst. Sci. 58, 1999.

    Examples
    --------
    >>> sketch = AmsSketch(width=1000, seed=7)
    >>> sketch.update_many(["a", "b", "c"], [30, 40, 50])
    >>> sketch.update("c", -50)
    >>> round(sketch.query()), 30**2 + 40**2
    (2591, 2500)
    >>> round(sketch.error(0.05), 3)
    0.127
    """

    __slots__ = ("_added", "_carried", "_signs", "_term", "_twice")

    def __init__(self, width: int, seed: int) -> None:
        self._signs = Signs(width, seed)
        self._twice = np.zeros(self.width, np.int64)
        self._term = np.empty(self.width, np.int64)
        self._added = self._carried = 0

    @property
    def width(self) -> int:
        """How many counters there are."""
        return self._signs.width

    @property
    def memory(self) -> int:
        """The bytes of the counters."""
        return self._twice.nbytes

    def update(self, item: Item, weight: int = 1) -> None:
        """Add a weight, which may be negative, to an item."""
        w = integer(weight, "weight")
        bits = self._signs.bits(item)
        self._carry(abs(w))
        # z = 2 * (sum of w where the sign is +) - (sum of all w), the latter kept as one number
        np.multiply(bits, np.int64(2 * w), out=self._term)
        np.add(self._twice, self._term, out=self._twice)
        self._added += w

    def update_many(self, items: Iterable[Item], weights: Iterable[int] | int = 1) -> None:
        """Add weights, one for each item or one for all, to many items."""
        every = list(items)
        each = [weights] * len(every) if isinstance(weights, (int, np.integer)) else list(weights)
        if len(each) != len(every):
            must = f"hold one weight for each of the {len(every)} items"
            hint = "Pass one weight for each item, or one number for all."
            raise ParameterError("weights", must, f"{len(each)}", hint)
        for item, weight in zip(every, each, strict=True):
            self.update(item, weight)

    def merge(self, other: AmsSketch) -> None:
        """Add what another sketch with the same width and seed was given."""
        if not isinstance(other, AmsSketch):
            hint = "Use AmsSketch(width, seed) with the width and the seed of this sketch."
            raise ParameterTypeError("other", "be an AmsSketch", kind(other), hint)
        if (self.width, self._signs.seed) != (other.width, other._signs.seed):
            hint = "Use AmsSketch(width, seed) with the width and the seed of this sketch."
            raise ParameterError("other", "have the same width and seed", "", hint)
        self._carry(other._carried)
        self._twice += other._twice
        self._added += other._added

    def counters(self) -> NDArray[np.float64]:
        """Return the counters. Who sees one can deceive the sketch."""
        return (self._twice - self._added).astype(np.float64)

    def query(self) -> float:
        """Return the estimate."""
        z = self.counters()
        return float(z @ z) / self.width

    def error(self, beta: Number = 0.05) -> float:
        r"""Return the relative error that is passed with probability ``beta`` at most.

        The lesser of Chebyshev's :math:`\sqrt{2/(r\beta)}`, which needs four-wise independent signs
        alone, and the solution of :math:`2e^{-r(\epsilon^2/4-\epsilon^3/6)} = \beta`, which needs
        fully independent ones. Only for vectors that do not depend on earlier answers.
        """
        chance = float(number(beta, "beta", above=0, most=1))
        chebyshev = sqrt(2 / (self.width * chance))
        if 2 * tail(1.0, self.width) > chance:
            return chebyshev
        _, least = bisected(lambda epsilon: 2 * tail(epsilon, self.width) > chance, 0.0, 1.0)
        return min(chebyshev, least)

    def _carry(self, weight: int) -> None:
        if self._carried + weight > HEAVIEST:
            must = "add up to at most 2**61 in magnitude"
            raise ParameterError("weights", must, "", "Use smaller weights, in a larger unit.")
        self._carried += weight

    def __repr__(self) -> str:
        return f"AmsSketch(width={self.width}, memory={self.memory})"


# ---- How long a `RobustF2` bears an adversary: what is proved, and what attacks leave standing ---
#
# A *look* is one noisy reading of the rows; an answer takes one look, or a few where the second
# moment has just changed much. Two numbers must not be mixed:
#
# `proved_looks`
#     holds against everybody, by the theorem below; 0 but for very many rows.
# `survived_answers`
#     comes from the strongest attack that this library has (`sourdine.adaptive.attacks`). A
#     better one would lower it.
#
# *Theorem*. Let all signs be independent, :math:`c` the clip, :math:`\sigma` the noise, :math:`r`
# the rows, :math:`\kappa = c/2`, :math:`b = 4e^{-\kappa/2}`. Let an analyst choose each vector with
# all earlier answers in hand. Over :math:`T` looks, all answers are within
# :math:`\epsilon + b + \tau(1 + \epsilon)/(0.8 - \tau)` of the truth, relatively, with
# :math:`\tau = t\sigma`, but for probability :math:`2Te^{-t^2/2} + p`, where :math:`p` is the root
# above :math:`q` of
#
# .. math:: p\ln\frac{p}{q} + (1-p)\ln\frac{1-p}{1-q} = \frac{c^2 T}{2\sigma^2 r},
#           \qquad q = T\bigl(e^{-r(\epsilon^2/4 - \epsilon^3/6)} + e^{-r\epsilon^2/6}\bigr),
#
# provided :math:`2(1 - b - \epsilon) > 1.25 + \tau` and :math:`\tau < 1/2`.
#
# *Proof*. (i) *One vector, fixed in advance.* A row's :math:`z` is a sum of independent signed
# weights, :math:`P(z^2 > v) \le 2e^{-v/2F_2}`, so :math:`E(z^2 - \kappa F_2)_+ \le bF_2`. The mean
# of the :math:`z_i^2` passes :math:`(1 + \epsilon)F_2` with the first term of :math:`q/T`. The mean
# :math:`V_\kappa` of the :math:`\min(z_i^2, \kappa F_2)`, each non-negative with second moment at
# most :math:`3F_2^2`, falls :math:`\epsilon F_2` below its expectation with the second. Otherwise
# the vector is *good*. (ii) *Adaptive vectors.* A look adds up terms in :math:`[0, cm]`, one from
# each row, and adds discrete Gaussian noise of deviation :math:`\sigma m r`; :math:`m` is known
# from earlier looks. So it is :math:`c^2/2\sigma^2r^2`-zCDP in one row [1]_, and as rows are
# independent the looks together tell at most :math:`c^2T/2\sigma^2r` nats about them [2]_. Were
# they independent of what is told, some vector would not be good with probability :math:`q` at
# most; as it is, with probability :math:`p` at most, by the data processing of relative entropy.
# (iii) *A good vector, noise within* :math:`\tau m`. Let the reading :math:`a` be accepted,
# :math:`0.8m \le a \le 1.25m`. If the clip :math:`cm` were below :math:`\kappa F_2`, then
# :math:`\min(z^2, cm) \ge (cm/\kappa F_2)\min(z^2, \kappa F_2)` would give
# :math:`a \ge 2m(1 - b - \epsilon) - \tau m > 1.25m`. So the clipped mean lies between
# :math:`(1 - b - \epsilon)F_2` and :math:`(1 + \epsilon)F_2`, and
# :math:`m \le (1+\epsilon)F_2/(0.8 - \tau)`. At :math:`m = 1` the same proviso leaves
# :math:`F_2 \in \{0, 1\}`, where every row reads :math:`F_2` itself and rounding removes the noise.
#
# *Checked by* ``test_proved_looks_follow_the_theorem`` and ``test_nothing_is_proved_by_default``.
#
# References
# ----------
# .. [1] C. Canonne, G. Kamath, T. Steinke, "The discrete Gaussian for differential privacy",
#    NeurIPS 2020.
# .. [2] M. Bun, T. Steinke, "Concentrated differential privacy: simplifications, extensions, and
#    lower bounds", TCC 2016.


LOW, HIGH = 0.8, 1.25
"""A reading between these multiples of the scale is accepted; else the scale follows it."""

LATTICE_STEPS = 2.0**24
"""Steps of the lattice below the clip, at least: rounding adds less than one to an error."""

MOST_LOOKS = MOST_WIDTH = 1 << 50


def proved_looks(*, width: int, noise: float, clip: float, error: float, beta: float) -> int:
    r"""Return the most looks for which all answers are within ``error``, but for ``beta``."""

    def holds(looks: int) -> bool:
        return any(
            _holds(looks, width, noise, clip, error, beta * share / 16, beta * (1 - share / 16))
            for share in range(1, 16)
        )

    return largest(holds, MOST_LOOKS)


def width_to_prove(
    looks: int, *, noise: float = 0.013, clip: float = 20, error: float = 0.25, beta: float = 0.05
) -> int:
    """Return the width that proves ``looks`` answers, to three digits; noise must be small.

    Examples
    --------
    >>> width_to_prove(1000)
    3240000
    """

    def enough(width: int) -> bool:
        return looks <= proved_looks(width=width, noise=noise, clip=clip, error=error, beta=beta)

    width = 1
    while not enough(width):
        width *= 2
        if width > MOST_WIDTH:
            must = f"leave room within the error for {looks} answers"
            hint = "Use a smaller value, such as {noise}."
            raise ParameterError("noise", must, f"{noise:g}", hint, noise=0.01)
    unit = int(10 ** max(len(str(width)) - 3, 0))
    low, high = width // 2 // unit, -(-width // unit)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle * unit) else (middle, high)
    return high * unit


def _holds(
    looks: int, width: int, noise: float, clip: float, alpha: float, beta_noise: float, p: float
) -> bool:
    tau = noise * sqrt(2 * log(2 * looks / beta_noise))
    b = 4 * exp(-clip / 4)
    if tau >= 1 / 2:
        return False
    stretch = tau / (LOW - tau)
    epsilon = min((alpha - clip / LATTICE_STEPS - b - stretch) / (1 + stretch), 1.0)
    if epsilon <= 0 or 2 * (1 - b - epsilon) <= HIGH + tau:
        return False
    log_q = log(2 * looks) - width * min(epsilon**2 / 4 - epsilon**3 / 6, epsilon**2 / 6)
    told = clip**2 * looks / (2 * noise**2 * width)
    return log_q < log(p) and told <= divergence_from(p, log_q)


GAIN = 1.276
r"""What growing the vector while probing gains: :math:`\max_y 2(1 - e^{-y})/\sqrt{y}`."""

ONE_SIDED = 1.645


def survived_answers(*, width: int, noise: float, error: float) -> int:
    r"""Return after how many answers one stays within ``error``, at 95%, under attack.

    The attack is `sourdine.adaptive.attacks.probe`. What a probe tells about a fresh item has
    deviation :math:`1/\sqrt{r}`, and its noise :math:`\sigma/1.25` at the least, so after
    :math:`T` probes the vector reads too low or too high by

    .. math:: 1.276\sqrt{\frac{T}{r(1 + r\sigma^2/1.25^2)}}

    at the most. What that leaves of ``error`` must hold the noise of one answer, which is
    relative to what the answer is driven to. *Checked by*
    ``test_robust_sketch_survives_its_declared_steps`` and, at full size, ``benchmarks/f2.py``.
    """
    noisy = ONE_SIDED * sqrt(noise**2 + 2 / width)
    room = (error - noisy) / (1 + noisy)
    if room <= 0:
        return 0
    return int((room / GAIN) ** 2 * width * (1 + width * (noise / HIGH) ** 2))


# ---- A sketch of the second moment for streams that react to its answers -------------------------


TICKS = 1 << 24
"""The parts of the clip in which a row's square, clipped, is read."""

LOUDEST = Fraction(1, 8)
"""Above, more answers than 5% may miss the declared error after a fall."""

STEEPEST = 4
"""So much the scale falls at once, at most: below, a reading is noise."""


class RobustF2:
    r"""The tug-of-war sketch, read through noise.

    A look at scale :math:`m` clips every row's square at :math:`cm`, takes the mean over rows and
    adds discrete Gaussian noise of deviation :math:`\sigma m`. The scale is the last answer, which
    is public; where the reading is not within 0.8 and 1.25 of it, the reading becomes the scale and
    the rows are looked at again. Noise blurs what an answer tells about any one row: that, not
    more rows or coarser answers, is what slows an attack down.

    Parameters
    ----------
    width
        How many counters, :math:`r`.
    noise
        :math:`\sigma`, relative to the answer; at most 1/8.
    clip
        :math:`c`: where a row is cut off, in multiples of the scale; at least 16.
    error, confidence
        `steps` and `certificate` speak of relative errors up to ``error`` under attack; the latter
        of all answers at once, with this confidence. `honest_error` is another thing.
    source
        Where the secret key and the noise come from.

    Notes
    -----
    *Claim*: on a stream that does not react, 95% of the answers are within `honest_error` of the
    truth. *Checked by* ``test_honest_error_within_declared_accuracy``.

    *Survived*, not proved: after `steps` answers to the strongest attack known here, one is within
    ``error`` with probability 0.95; a plain sketch of the same memory is not. *Checked by*
    ``test_robust_sketch_survives_its_declared_steps``.

    *Proved*: `certificate()` looks, which is 0 by default.

    The clip by the last answer and the noise on a public lattice make a look zero-concentrated
    private in every row, whatever the stream: ``test_one_row_moves_a_look_by_the_clip_at_most``.

    References
    ----------
    .. [1] A. Hassidim, H. Kaplan, Y. Mansour, Y. Matias, U. Stemmer, "Adversarially robust
       streaming algorithms via differential privacy", NeurIPS 2020.

    Examples
    --------
    >>> sketch = RobustF2()
    >>> sketch.update_many(["a", "b"], [3000, 4000])
    >>> round(sketch.honest_error, 2), sketch.steps, sketch.certificate(), sketch.memory
    (0.15, 10743, 0, 160000)
    >>> 10_000_000 < sketch.query() < 40_000_000
    True
    >>> sketch.update_many(["a", "b"], [-3000, -4000])
    >>> sketch.query()
    0.0
    """

    __slots__ = (
        "_rows", "_scale", "_source", "_variance", "beta", "clip", "error", "looks", "noise",
    )  # fmt: skip

    def __init__(
        self,
        width: int = 20_000,
        noise: Number = 0.06,
        *,
        clip: Number = 20,
        error: Number = 0.25,
        confidence: Number = 0.95,
        source: Source = SYSTEM,
    ) -> None:
        self.noise = number(noise, "noise", above=0, most=LOUDEST)
        self.clip = at_least(clip, "clip", 16)
        self.error = number(error, "error", above=0, most=1)
        self.beta = beta_of(confidence)
        self._source = source
        self._rows = AmsSketch(
            integer(width, "width", least=1), int.from_bytes(source.bytes(KEY_BITS // 8), "little")
        )
        self._variance = (self.noise * self.width * TICKS / self.clip) ** 2
        self._scale = 1.0
        self.looks = 0

    @property
    def width(self) -> int:
        """How many counters there are."""
        return self._rows.width

    @property
    def memory(self) -> int:
        """The bytes of the counters."""
        return self._rows.memory

    @property
    def honest_error(self) -> float:
        r"""The relative error of 95% of the answers on a stream that does not react.

        Two deviations of the noise at a scale that is 1.25 times too large, and of the rows.
        """
        return 2 * sqrt((float(self.noise) / LOW) ** 2 + 2 / self.width)

    @property
    def steps(self) -> int:
        """How many answers to an adversary survive within ``error``: no proof, see Notes."""
        return survived_answers(width=self.width, noise=float(self.noise), error=float(self.error))

    def certificate(self) -> int:
        """Return for how many looks all answers are proved right; 0 if the key can be foreseen."""
        return self.proof().steps

    def proof(self) -> Proof:
        """Return what is proved and on which grounds."""
        beta, error = float(self.beta), float(self.error)
        if not self._source.private:
            return Proof(0, beta, "the key can be foreseen; leave source out")
        looks = proved_looks(
            width=self.width, noise=float(self.noise), clip=float(self.clip),
            error=error, beta=beta,
        )  # fmt: skip
        grounds = f"the width {self.width} is too small for the noise; see width_to_prove"
        if looks:
            grounds = (
                f"privacy of the rows, all answers within {error:g}; a step is a look, and an "
                "answer takes one where the second moment stands, a few where it leaps"
            )
        return Proof(looks, beta, grounds)

    def update(self, item: Item, weight: int = 1) -> None:
        """Add a weight, which may be negative, to an item."""
        self._rows.update(item, weight)

    def update_many(self, items: Iterable[Item], weights: Iterable[int] | int = 1) -> None:
        """Add weights, one for each item or one for all, to many items."""
        self._rows.update_many(items, weights)

    def query(self) -> float:
        """Return a noisy estimate."""
        while True:
            m = self._scale
            a = self._look(m)
            if m == 1 and a <= HIGH:
                return float(round(max(a, 0.0)))
            self._scale = max(a, m / STEEPEST, 1.0)
            if LOW * m <= a <= HIGH * m:
                return a

    def _look(self, scale: float) -> float:
        self.looks += 1
        ticks = self._ticks(scale) + samplers.discrete_gaussian(self._variance, source=self._source)
        return ticks * (float(self.clip) * scale / (self.width * TICKS))

    def _ticks(self, scale: float) -> int:
        """Return the sum over rows, each between 0 and `TICKS` whatever the data."""
        share = self._rows.counters()
        np.square(share, out=share)
        share *= TICKS / (float(self.clip) * scale)
        np.minimum(share, TICKS, out=share)
        return int(np.rint(share, out=share).sum())

    def __repr__(self) -> str:
        terms = f"width={self.width}, noise={float(self.noise):g}, clip={float(self.clip):g}"
        looked = f"{self.looks} looks; survived {self.steps}, proved {self.certificate()}"
        return f"RobustF2({terms}): {looked}"
