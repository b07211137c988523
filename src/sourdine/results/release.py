"""`Release`: a published value with its cost, its mechanism and its caveats.

A release holds public facts only: no law, no private value. Intervals are functions of these facts,
computed by the `Estimator` that drew the value.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import isinf
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from sourdine.errors import ParameterError, ParameterTypeError, PythonWording
from sourdine.exact import given, rational
from sourdine.privacy import Guarantee
from sourdine.results import charts
from sourdine.results.answer import Answer, plain
from sourdine.results.tables import Columns, Sheet

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from sourdine.exact import Number
    from sourdine.grid import Grid
    from sourdine.results.charts import Chart


RAREST = Fraction(1, 10**12)
"""The least probability with which intervals miss: they are computed with floats."""

LITTLE_PROTECTION = 20
"""From this epsilon on a caveat says that there is little protection: odds change by e^20."""
SHOWN = 0.95
"""The confidence of the intervals in a table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Display:
    """How the releases of an estimator are printed and drawn."""

    head: str
    """The title of the column of numbers in a table."""
    title: str = ""
    """The title of a chart; by default the estimator's text."""
    numeric: bool = True
    """Whether the values are numbers, which have intervals."""
    populations: bool = True
    """Whether there are intervals for the population too."""
    intervals: bool = True
    """Whether tables, frames and charts show the intervals."""
    extra_intervals: tuple[str, ...] = ()
    """Which intervals are shown in addition to those of the sample."""
    confidence: float = SHOWN
    """The confidence level of the intervals that are shown."""
    protected: str = "record"
    """What the guarantee protects, if that is more than a record."""
    from_zero: bool = False
    """Whether a chart's axis begins at 0, as that of a count must for comparison."""
    even: bool = False
    """Whether the numbers are shares of one whole, printed with one precision."""
    most: int | None = None
    """The maximum number of printed numbers: of more, the largest are printed."""
    lead: int | None = None
    """If a table may be split to the width of a page: how many columns begin each part."""


class Estimator(ABC):
    """Draws a release and computes its intervals: a mechanism, a statistic, an estimate.

    A class with a ``kind`` of its own can be rebuilt from JSON: `to_dict` and `from_dict` are
    inverse to each other.
    """

    __slots__ = ()

    kind: ClassVar[str]
    kinds: ClassVar[dict[str, type[Estimator]]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "kind" in vars(cls):
            Estimator.kinds[cls.kind] = cls

    @property
    def display(self) -> Display:
        """How its releases are printed and drawn."""
        return Display(head=self.kind)

    def limits(self, release: Release, beta: float, of: str) -> Any:
        """Return the ends that miss the truth with probability ``beta``, shaped as the value.

        ``of`` is ``"sample"``, ``"population"`` or, for a population interval by the normal
        approximation, ``"normal"``.
        """
        raise NotImplementedError

    def widened_limits(self, release: Release, beta: float, of: str) -> Any:
        """Return the `limits`, widened where they exclude the value: what users see.

        Limits are clipped to possible values, the value itself is not: a noisy count may be
        negative, so that sums of counts stay unbiased. *Claim*: no value lies outside its own
        interval. *Checked by* ``test_no_value_lies_outside_its_own_interval``. A widened interval
        misses the truth no more often.
        """
        return holding(release.value, self.limits(release, beta, of))

    def labels(self, release: Release) -> Mapping[str, Sequence[Any]]:
        """Return the labels that distinguish the numbers of a release, by name."""
        return {}

    def further(self, release: Release) -> Mapping[str, Sequence[Any]]:
        """Return further columns of a frame, as long as the labels."""
        return {}

    def columns(self, release: Release) -> Columns:
        """Return the numbers of a release, with labels and the printed ends."""
        display = self.display
        own = self._shown_ends(release, "sample") if display.intervals else None
        return Columns(
            labels=self.labels(release), name=display.head, values=flat(release.value),
            lower=own and own[0], upper=own and own[1],
            extra_intervals={of: self._shown_ends(release, of) for of in display.extra_intervals},
            confidence=display.confidence, even=display.even, most=display.most,
            further=self.further(release), printed=self.printed_rows(release),
        )  # fmt: skip

    def printed_rows(self, release: Release) -> Sequence[int] | None:
        return None

    def _shown_ends(self, release: Release, of: str) -> tuple[list[Any], list[Any]]:
        """Return the printed lower and upper ends, one by one."""
        ends = self.widened_limits(release, read_confidence(self.display.confidence), of)
        return shown_ends(_pairs(ends))

    def difference(self, release: Release, first: object, second: object) -> Release:
        """Return how far one group is above another, if there are groups."""
        raise ParameterTypeError(
            "difference", "difference() is only available for a release by group.", "",
            "Ask with {by} and {keys}, then for the difference of two of them.", by="sex",
            keys=["f", "m"],
        )  # fmt: skip

    def printed(self, release: Release) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return the heads and lines of the table that is printed."""
        return release.columns().cells()

    def findings(self, release: Release) -> list[tuple[str, str]]:
        """Return further lines below the table, such as bounds found before the answer."""
        return []

    def remarks(self, release: Release, words: PythonWording) -> tuple[str, ...]:
        """Return suggestions based on the released numbers, in an interface's wording."""
        return ()

    @property
    def release_kind(self) -> type[Release]:
        return Release

    def answered(self, release: Release) -> Release:
        """Return the answer alone, if something was found before it."""
        return release

    def value(self, drawn: Mapping[str, Any]) -> Any:
        """Return the published value, from the drawn numbers."""
        raise NotImplementedError

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the public parameters as JSON, the kind as ``"statistic"``."""

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Self:
        """Return the estimator that wrote these facts."""
        raise NotImplementedError

    def chart(self, release: Release, truth: Any = None) -> Chart:
        """Return what a chart of a release shows: a dot with its interval for each number."""
        return charts.dots(release.columns(), truth, from_zero=self.display.from_zero)

    def charts(self, release: Release) -> Mapping[str, Chart]:
        """Return the charts of a page by their titles: one without, if all share axes."""
        return {"": self.chart(release)}

    def plot(
        self,
        release: Release,
        *,
        truth: Any = None,
        path: str | None = None,
        title: str | None = None,
    ) -> Any:
        """Draw a release.

        Parameters
        ----------
        release
            The release to draw.
        truth
            If the data is public: the true value, or one for each number or key.
        path
            Where to save the chart; the extension sets the format (png, svg, pdf, html).
        title
            The title; defaults to that of the mechanism or statistic.
        """
        from sourdine.results import figures

        return figures.draw(self.chart(release, truth), release, path=path, title=title)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Release(Answer):
    """A published value with its cost, its mechanism and its caveats.

    Parameters
    ----------
    value
        The published value: a number, an array, or one of them for each group.
    cost
        The guarantee under which it was drawn; infinite if the randomness was seeded.
    mechanism
        The estimator that drew it, with its public parameters.
    caveats
        Sentences that a reader needs, fixed before the data was read.
    drawn
        Every number drawn under the cost, by name: intervals are functions of these.
    grid
        The public lattice of the value, if there is one.

    Examples
    --------
    >>> from sourdine.mechanisms import Laplace
    >>> release = Laplace(epsilon=1).release(1000)
    >>> low, high = release.interval(0.95)
    >>> high - low
    6
    >>> f"{release:d}" == str(release.value)
    True
    """

    value: Any
    cost: Guarantee
    mechanism: Estimator
    caveats: tuple[str, ...] = ()
    drawn: Mapping[str, Any] = field(default_factory=dict)
    grid: Grid | None = None
    _columns: Columns | None = field(default=None, init=False)

    def interval(
        self, confidence: Number = SHOWN, *, of: str = "sample", assume: str | None = None
    ) -> Any:
        """Return a confidence interval: its ends enclose the truth with probability ``confidence``.

        Two numbers, two arrays, or a pair of them for each key. The value is always between them:
        they are clipped to possible values, such as 0 for a count, but never beyond the value.

        Parameters
        ----------
        confidence
            A probability below 1; for several numbers it holds for all of them together, unless
            a caveat says that each holds on its own.
        of
            ``"sample"``: the truth is the statistic of the given records.
            ``"population"``: that of the distribution they were drawn from, which adds sampling
            error.
        assume
            For a population: ``"normal"`` treats the sum of many records as normal, as is
            commonly done, for a shorter interval; by default the interval holds for every law.
        """
        if of not in ("sample", "population"):
            raise ParameterError("of", "be 'sample' or 'population'", repr(of), of="sample")
        display = self.mechanism.display
        if not display.numeric:
            raise ParameterTypeError(
                "interval", f"interval() is not available for a {display.head}.",
                f"a {display.head}", "Use release.mechanism.error(0.05).",
            )  # fmt: skip
        if of == "population" and not display.populations:
            raise ParameterError(
                "of", f"be 'sample' for a {display.head}, which depends on the number of records",
                repr(of), "Use {of}, or ask for a mean or a proportion.", of="sample",
            )  # fmt: skip
        if assume is not None and (assume != "normal" or of != "population"):
            raise ParameterError(
                "assume", "be 'normal', with {of}, or omitted", given(assume),
                assume="normal", of="population",
            )  # fmt: skip
        if assume is not None and "normal" not in display.extra_intervals:
            raise ParameterError(
                "assume", f"be omitted for this {display.head}", given(assume),
                "Omit it; a mean has such intervals with {population}.", population=True,
            )  # fmt: skip
        which = of if assume is None else "normal"
        return self.mechanism.widened_limits(self, read_confidence(confidence), which)

    @property
    def answer(self) -> Release:
        """The release itself; if something was found before it, such as bounds, without that."""
        return self.mechanism.answered(self)

    def columns(self) -> Columns:
        """Return the numbers, with labels and the printed ends of the intervals; found once."""
        if self._columns is None:
            answer = self.answer
            object.__setattr__(self, "_columns", answer.mechanism.columns(answer))
        return cast("Columns", self._columns)

    def sheet(self, words: PythonWording | None = None) -> Sheet:
        answer = self.answer
        heads, lines = answer.mechanism.printed(answer)
        notes = self.notes(words)
        lead = self.mechanism.display.lead
        if lead is None and self.mechanism.display.extra_intervals:
            lead = len(answer.mechanism.labels(answer))
        return Sheet(heads=heads, lines=lines, notes=notes, lead=lead)

    def notes(self, words: PythonWording | None = None) -> list[tuple[str, str]]:
        facts = [
            ("cost", self.price), ("method", str(self.mechanism)), *self.mechanism.findings(self),
        ]  # fmt: skip
        texts = [*self.caveats]
        if self.cost.is_finite and self.cost.epsilon > LITTLE_PROTECTION:
            texts.append(f"An epsilon above {LITTLE_PROTECTION} provides almost no protection.")
        texts += self.mechanism.remarks(self, words or PythonWording())
        return facts + [("note", text) for text in texts]

    @property
    def price(self) -> str:
        """The cost and what it protects, in words."""
        return self.cost.told(self.mechanism.display.protected)

    def derived(self) -> dict[str, Any]:
        """Return what is sent in addition to `to_dict`: the cost as decimals, the printed interval.

        Both follow from the release, so they are not stored with it.
        """
        facts: dict[str, Any] = {"cost": self.cost.to_dict() | {"decimal": self.cost.decimal}}
        if self.mechanism.display.intervals:
            confidence = self.mechanism.display.confidence
            ends = plain(self.interval(confidence))
            facts["interval"] = {"confidence": confidence, "ends": ends}
        return facts

    def difference(self, first: object, second: object) -> Release:
        """Return how far the first of two groups is above the second, at no further cost."""
        answer = self.answer
        return answer.mechanism.difference(answer, first, second)

    def chart(self, truth: Any = None) -> Chart:
        """Return what a chart of the release shows."""
        answer = self.answer
        return answer.mechanism.chart(answer, truth)

    def charts(self) -> Mapping[str, Chart]:
        """Return the charts of a page, by their titles."""
        answer = self.answer
        return answer.mechanism.charts(answer)

    def plot(self, path: str | None = None, **options: Any) -> Any:
        """Draw the release; ``path`` saves the chart."""
        answer = self.answer
        return answer.mechanism.plot(answer, path=path, **options)

    def to_dict(self) -> dict[str, Any]:
        return {
            "value": plain(self.value), "cost": self.cost.to_dict(),
            "mechanism": str(self.mechanism), "question": self.mechanism.to_dict(),
            "drawn": plain(self.drawn), "caveats": list(self.caveats),
        }  # fmt: skip

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Release:
        """Return the release that `to_dict` wrote, of a statistic or of an estimate."""
        mechanism = read_estimator(facts["question"])
        kind = cls if issubclass(cls, mechanism.release_kind) else mechanism.release_kind
        return kind(
            value=mechanism.value(facts["drawn"]), cost=Guarantee.from_dict(facts["cost"]),
            mechanism=mechanism, caveats=tuple(facts["caveats"]), drawn=facts["drawn"],
            grid=getattr(mechanism, "grid", None),
        )  # fmt: skip


def read_estimator(facts: Mapping[str, Any]) -> Estimator:
    """Return the estimator that wrote these facts with `to_dict`, of any kind."""
    kind = facts["statistic"]
    if kind not in Estimator.kinds:
        raise ParameterError(
            "the JSON", "hold the release of a statistic", f"the kind {kind!r}",
            "Only releases of sourdine's statistics can be read.",
        )  # fmt: skip
    return Estimator.kinds[kind].from_dict(facts)


def read_confidence(confidence: object) -> float:
    """Return the probability with which an interval may miss the truth."""
    return float(beta_of(confidence, RAREST))


def beta_of(confidence: object, least: Fraction | int = 0) -> Fraction:
    """Return the probability of a failure, exactly."""
    value = rational(confidence, "confidence", example=0.95)
    if not (0 < value < 1 and 1 - value >= least):
        raise ParameterError(
            "confidence", "be above 0 and below 1", given(confidence),
            "Use a probability, such as {confidence}.", confidence=0.95,
        )  # fmt: skip
    return 1 - value


def holding(value: Any, ends: Any) -> Any:
    """Return intervals, each widened to include its value."""
    if isinstance(ends, Mapping):
        return {key: holding(value[key], own) for key, own in ends.items()}
    low, high = ends
    if low is None:  # a number without an interval, such as a bound that was found
        return ends
    if isinstance(low, np.ndarray):
        return np.minimum(low, value), np.maximum(high, value)
    return min(low, value), max(high, value)


def _pairs(ends: Any) -> list[Any]:
    """Return the ends of intervals in order, for any shape of the value."""
    if isinstance(ends, Mapping):
        return [pair for part in ends.values() for pair in _pairs(part)]
    return [ends]


def shown_ends(pairs: Sequence[tuple[Any, Any]]) -> tuple[list[Any], list[Any]]:
    """Return the lower and the upper ends to be shown; None for an interval without an end."""
    lower = [x for low, _ in pairs for x in flat(low)]
    upper = [x for _, high in pairs for x in flat(high)]
    for i, both in enumerate(zip(lower, upper, strict=True)):
        if any(isinstance(x, float) and isinf(x) for x in both):
            lower[i] = upper[i] = None
    return lower, upper


def flat(value: Any) -> list[Any]:
    """Return all numbers of a value in order."""
    if isinstance(value, Mapping):
        return [x for part in value.values() for x in flat(part)]
    if isinstance(value, np.ndarray):
        return list(value.ravel().tolist())
    return list(value) if isinstance(value, (list, tuple)) else [value]
