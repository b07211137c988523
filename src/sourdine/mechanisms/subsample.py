"""Subsampling: run any mechanism on a random part of the records, at a lower cost."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import field, frozen

from sourdine import noise
from sourdine.errors import LEFT_OUT, ParameterError, ParameterTypeError
from sourdine.exact import given, integer, number
from sourdine.laws import Law
from sourdine.mechanisms.laplace import Laplace
from sourdine.mechanisms.mechanism import REACH, Mechanism, Specimen, read_ticks, register
from sourdine.privacy import ADD_REMOVE, SUBSTITUTE, Guarantee, Part, Relation, composition
from sourdine.privacy.accounting.parts import on_sample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from sourdine.exact import Number
    from sourdine.mechanisms.mechanism import Value
    from sourdine.noise import Source

    Records = NDArray[np.int64]


MOST_RECORDS = 16  # the law enumerates all samples


def total(records: NDArray[np.int64]) -> int:
    return sum(records.tolist())


def _mechanism(x: Mechanism[Any]) -> Mechanism[Any]:
    if not isinstance(x, Mechanism):
        hint = "Use Laplace(epsilon=1, relation=ADD_REMOVE)."
        raise ParameterTypeError("mechanism", "be a Mechanism", given(x), hint)
    return x


def _values(x: Sequence[int]) -> tuple[int, ...]:
    """Return the public values in order, near enough to 0 that differences fit 64 bits."""
    listed = isinstance(x, (tuple, list, range))
    if not listed or not x:
        must, got = "be a list of at least one whole number", given(x)
        got = "an empty list" if listed else got
        raise ParameterError("values", must, got, "Use {values}.", values=(0, 1))
    whole = sorted({integer(v, f"values[{i}]") for i, v in enumerate(x)})
    if whole[0] < -REACH or whole[-1] > REACH:
        hint = "Use ticks of a coarser grid, such as {values}."
        raise ParameterError("values", "be within 2**61 of 0", "", hint, values=(0, 1))
    return tuple(whole)


def _statistic(x: Callable[[Records], Any]) -> Callable[[Records], Any]:
    if not callable(x):
        tries = {"statistic": LEFT_OUT}
        hint = "Omit {statistic} for the sum."
        raise ParameterTypeError("statistic", "be a function", given(x), hint, **tries)
    return x


def _rate(x: Number | None) -> Fraction | None:
    return None if x is None else number(x, "rate", above=0, most=1)


@frozen(kw_only=True)
class Subsample(Mechanism["Records"]):
    r"""Keep a random part of the records, and run a mechanism on a statistic of them.

    .. math:: \varepsilon' = \ln(1 + q(e^\varepsilon - 1)), \qquad \delta' = q\,\delta

    where :math:`q` is ``rate`` (each record is kept with that probability; the mechanism's
    relation is ADD_REMOVE) or ``sample/n`` (``sample`` of a public number ``n`` of records are
    kept; SUBSTITUTE).

    Parameters
    ----------
    mechanism
        The mechanism that runs on the sample.
    values
        The public values that a record can have; others count as the nearest.
    statistic
        Maps the kept records, which may be none, to the mechanism's input. That a changed record
        makes a neighbouring input is the caller's claim; the audit checks it.
    rate
        :math:`q`, above 0 and at most 1.
    sample, n
        Instead of a rate: how many records are kept, of how many.

    Notes
    -----
    *Claim*: the formula above, and it is tight. *Checked by*
    ``test_exact_worst_case[sample.poisson]`` and ``[sample.fixed]``. The lecture's :math:`(q,
    q\delta)` for a mechanism of epsilon 1 is false at every rate: .620 at .5 (row S2). *Checked
    by* ``test_lecture_amplification_is_rejected``.

    References
    ----------
    .. [1] B. Balle, G. Barthe, M. Gaboardi, "Privacy amplification by subsampling: tight analyses
       via couplings and divergences", NeurIPS 2018.

    Examples
    --------
    >>> count = Laplace(epsilon=1, relation=ADD_REMOVE)
    >>> part = Subsample(mechanism=count, values=(0, 1), rate=0.1)
    >>> round(float(part.guarantee.epsilon), 4)
    0.1586
    """

    mechanism: Mechanism[Any] = field(converter=_mechanism)
    values: tuple[int, ...] = field(converter=_values)
    statistic: Callable[[Records], Any] = field(default=total, converter=_statistic)
    rate: Fraction | None = field(default=None, converter=_rate)
    sample: int | None = None
    n: int | None = None
    guarantee: Guarantee = field(init=False, repr=False, eq=False)

    @guarantee.default
    def _amplified(self) -> Guarantee:
        inner = self.mechanism.guarantee
        if self.rate is not None and self.sample is None and self.n is None:
            return composition.poisson(inner, self.rate)
        if self.rate is None and self.sample is not None and self.n is not None:
            return composition.without_replacement(inner, self.sample, self.n)
        name, must = "rate", "be given, or else sample and n"
        if self.rate is not None:
            name, must = "sample", "not be combined with rate"
        got = f"rate={self.rate}, sample={self.sample} and n={self.n}"
        hint, tries = "Use {rate}, and omit {sample} and {n}.", {"sample": LEFT_OUT, "n": LEFT_OUT}
        raise ParameterTypeError(name, must, got, hint, rate=0.1, **tries)

    @property
    def parts(self) -> tuple[Part, ...]:
        """Those of the mechanism, on a Poisson sample; for a fixed size, the guarantee alone.

        *Checked by* ``test_whole_curve[sample.poisson]``.
        """
        return super().parts if self.rate is None else on_sample(self.mechanism.parts, self.rate)

    def read(self, x: object) -> Records:
        records = np.atleast_1d(np.asarray(read_ticks(x), np.int64))
        if records.ndim != 1:
            must, hint = "be a list of records", "Pass one whole number for each record."
            got = f"an array of {records.ndim} dimensions"
            raise ParameterTypeError("the input", must, got, hint)
        n = len(records)
        if self.n is not None and n != self.n:
            must = f"hold the public number of {self.n} records"
            hint = "Construct the mechanism with {n}."
            raise ParameterTypeError("the input", must, str(n), hint, n=n)
        values = np.array(self.values)
        records = np.clip(records, values[0], values[-1])
        upper = np.searchsorted(values, records)
        lower = np.maximum(upper - 1, 0)
        nearer_below = records - values[lower] <= values[upper] - records
        return np.asarray(values[np.where(nearer_below, lower, upper)])

    def draw(self, x: Records, size: int | None, source: Source) -> Value:
        kept = self._kept(len(x), 1 if size is None else size, source)
        if size is None:
            return self.mechanism.draw(self._statistic(x[kept[0]]), None, source)
        samples, which = np.unique(kept, axis=0, return_inverse=True)
        drawn = np.empty(size, np.int64)
        for i, sample in enumerate(samples):
            here = which.ravel() == i
            value = self._statistic(x[sample])
            drawn[here] = self.mechanism.draw(value, int(here.sum()), source)
        return drawn

    def _kept(self, n: int, size: int, source: Source) -> NDArray[np.bool_]:
        """Return which of n records each of ``size`` samples keeps."""
        if self.rate is not None:
            return np.asarray(noise.bernoulli(self.rate, (size, n), source=source))
        kept, row = np.zeros((size, n), bool), np.arange(size)
        for last in range(n - int(self.sample or 0), n):  # Floyd's sampling without replacement
            j = np.asarray(noise.uniform_below(last + 1, size, source=source))
            kept[row, np.where(kept[row, j], last, j)] = True
        return kept

    def _statistic(self, records: Records) -> Any:
        return self.mechanism.read(self.statistic(records))

    def law(self, x: Records) -> Law:
        if len(x) > MOST_RECORDS:
            must = f"law() is available for at most {MOST_RECORDS} records."
            hint = "It goes through all samples: use a small input."
            raise ParameterError("law", must, "", hint)
        chances: dict[Any, float] = defaultdict(float)
        inputs: dict[Any, Any] = {}
        for kept, chance in self._samples(len(x)):
            value = self._statistic(x[list(kept)])
            key = value if isinstance(value, int) else tuple(value)
            chances[key] += float(chance)
            inputs[key] = value
        laws: list[Any] = [self.mechanism.law(value) for value in inputs.values()]
        return Law.mixture(list(chances.values()), laws)

    def _samples(self, n: int) -> Iterator[tuple[tuple[int, ...], Fraction]]:
        """Yield every sample of n records with its probability."""
        for k in range(n + 1):
            if self.rate is not None:
                chance = self.rate**k * (1 - self.rate) ** (n - k)
            else:
                chance = Fraction(k == self.sample, comb(n, k))
            if chance:
                yield from ((kept, chance) for kept in combinations(range(n), k))

    def loss(self, x: Records, y: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the mechanism's loss for the sample that fits the output best."""
        inputs = (self._statistic(x[list(kept)]) for kept, _ in self._samples(len(x)))
        return np.asarray(np.min([self.mechanism.loss(v, y) for v in inputs], axis=0))

    def error(self, beta: Number = 0.05) -> float:
        """Return the mechanism's error: about the sample, not about all records."""
        return self.mechanism.error(beta)

    def interval(self, value: Value, confidence: Number) -> tuple[Value, Value]:
        return self.mechanism.interval(value, confidence)

    def neighbours(self, x: Records) -> Iterator[Records]:
        if self.guarantee.relation is ADD_REMOVE:
            yield from (np.delete(x, i) for i in range(len(x)))
            yield from (np.append(x, v) for v in self.values)
        else:
            for i in range(len(x)):
                yield from (np.where(np.arange(len(x)) == i, v, x) for v in self.values)

    def adjacent(self, x: Records, y: Records) -> bool:
        one, two = Counter(x.tolist()), Counter(y.tolist())
        gone, come = (one - two).total(), (two - one).total()
        if self.guarantee.relation is ADD_REMOVE:
            return gone + come <= 1
        return gone == come <= 1


def _specimen(epsilon: Any, relation: Relation, **size: Any) -> Subsample:
    sum_of_part = Laplace(epsilon=epsilon, sensitivity=2, relation=relation)
    return Subsample(mechanism=sum_of_part, values=(0, 1, 2), **size)


register(
    Specimen(
        "sample.poisson", lambda e: _specimen(e, ADD_REMOVE, rate=Fraction(1, 3)),
        ([], [0, 2], [2, 2, 1]),
    ),
    Specimen(
        "sample.fixed", lambda e: _specimen(e, SUBSTITUTE, sample=1, n=3),
        ([0, 0, 0], [0, 1, 2], [2, 2, 2]),
    ),
)  # fmt: skip
