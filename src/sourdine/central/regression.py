"""Covariance, correlation and linear regression of columns, from noisy sums of products."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import isinf, sqrt
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from attrs import field, frozen

from sourdine.central.cdf import ReadOff, read_off
from sourdine.central.mean import read_method
from sourdine.central.moments import NoisyMoments
from sourdine.central.products import MOST_CELLS, ProductSums
from sourdine.central.statistic import lattice
from sourdine.central.table import BOUNDS, STEPS, ByColumn, of_steps, read_bounds, read_steps
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import given, rational
from sourdine.frames.cells import Ticks
from sourdine.frames.memory import NUMBERS
from sourdine.grid import Grid
from sourdine.parameters import converters, kinds
from sourdine.parameters.kinds import WHAT, param
from sourdine.results import charts
from sourdine.results.charts import Chart, ChartAxis, ChartSeries
from sourdine.results.release import Release
from sourdine.results.tables import brief, key_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sourdine.errors import PythonWording
    from sourdine.frames.frame import Frame
    from sourdine.parameters.converters import Bounds
    from sourdine.privacy import Part
    from sourdine.results.tables import Columns

    Floats = NDArray[np.float64]


# ---- What statistics of several columns have in common -------------------------------------------


POINTS = 12
"""A default grid has at least half of 2 to this power of points..."""
FEWER = 10
"""...of three columns to this one, so that products of all their squares fit 64 bits."""
WIDEST = 1e100
"""How far bounds may be apart, and how close: products of widths are floats."""
METHODS = ("laplace", "gaussian")
INSIDE = 0.7
"""Errors are planned for means this far from the middle, where the bounds are at -1 and 1."""
ASSUMED = (
    "Population intervals assume that records are drawn independently from one distribution, and "
    "treat the sums of many records as normal."
)


def read_y(x: str | None) -> str | None:
    return converters.name(x, "y", "income")


def read_x(x: str | None) -> str | None:
    return converters.name(x, "x", "age")


MOST_PREDICTORS = 30


def read_predictors(x: str | Sequence[str] | None) -> tuple[str, ...] | None:
    """Return the predictors: one column, or several."""
    if x is None:
        return None
    listed = (x,) if isinstance(x, str) else x
    if not isinstance(listed, (list, tuple)):
        must = "be a column name, or a list of them"
        raise ParameterTypeError("x", must, given(x), "Use {x}.", x=["age"])
    names = tuple(str(converters.name(part, "x", "age") or "") for part in listed)
    if not names or not all(names) or len(set(names)) < len(names):
        must, got = "be distinct column names", given(list(names))
        raise ParameterError("x", must, got, "Use {x}.", x=["age", "hours"])
    if len(names) > MOST_PREDICTORS:
        must = f"be at most {MOST_PREDICTORS} columns"
        hint = "Name fewer columns: each takes a part of what epsilon can tell."
        raise ParameterError("x", must, str(len(names)), hint)
    return names


@frozen(kw_only=True, slots=False)
class OfColumns(ByColumn):
    """The common part: bounds and grids by column, and the noisy sums of their products."""

    squares: ClassVar[bool] = True
    found_units: ClassVar[str] = "found widths"

    y: str | None = field(default=None, converter=read_y, metadata=param(
        kinds.TEXT, "The column that is explained; of a covariance or correlation, the second "
        "column.", group=WHAT,
    ))  # fmt: skip
    x: str | None = field(default=None, converter=read_x, metadata=param(
        kinds.TEXT, "The first column.", group=WHAT,
    ))  # fmt: skip
    bounds: tuple[tuple[str, Bounds], ...] = field(
        default=None, converter=read_bounds, metadata=param(
            BOUNDS, "Public bounds of each column, chosen without looking at the data; find if "
            "they are unknown. Values outside are clamped.", group=WHAT, unit="values",
    ))  # fmt: skip
    steps: tuple[tuple[str, Any], ...] = field(default=None, converter=read_steps, metadata=param(
        STEPS, "The step of each column's grid. Defaults to at most a five-hundredth of the range.",
        group=WHAT, unit="values",
    ))  # fmt: skip
    method: str = field(default="laplace", converter=read_method, metadata=param(
        kinds.one_of(*METHODS), "The noise: laplace, or gaussian (needs delta), which is less for "
        "many predictors.", group=WHAT,
    ))  # fmt: skip

    @property
    def predictors(self) -> tuple[str, ...]:
        """The columns before the last one."""
        return (str(self.x),)

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """All columns, the response last."""
        return (*self.predictors, str(self.y))

    @property
    def bounded(self) -> Sequence[str]:
        return self.variables

    @property
    def units(self) -> str:
        own = self.found_units if any(c in self.searched for c in self.measured) else ""
        return " times ".join(filter(None, (own, super().units)))

    @property
    def measured(self) -> tuple[str, ...]:
        """The columns in whose units errors are."""
        return self.variables

    def check(self) -> None:
        if self.method not in METHODS:
            must, got = f"be one of {', '.join(METHODS)}", repr(self.method)
            raise ParameterError("method", must, got, "Use {method}.", method="laplace")
        self.check_delta(self.method)
        if len(set(self.variables)) < len(self.variables):
            hint = "Remove it from {x}: a column explains itself."
            raise ParameterError("x", "name other columns than {y}", given(self.y), hint)
        _ = self.widths, self.mechanism.noise

    def check_columns(self) -> None:
        """Refuse columns that are not named, or without bounds, before an error is planned."""
        for name, example in (("y", "income"), ("x", "age")):
            if getattr(self, name) is None:
                tries = {name: example}
                raise ParameterTypeError(name, "be a column name", "", f"Use {{{name}}}.", **tries)
        super().check_columns()

    @cached_property
    def grids(self) -> tuple[Grid, ...]:
        self.check_columns()
        ends: dict[str, Any] = dict(self.bounds)
        steps = dict(self.steps)
        bits = FEWER if len(self.variables) == MOST_CELLS and self.method == "laplace" else POINTS
        try:
            return tuple(_grid(ends[c], steps.get(c), bits) for c in self.variables)
        except ParameterError as error:
            if error.name == "bounds":
                raise error.hinting("Choose other {bounds} for that column.", {}) from None
            raise of_steps(error) from None

    @cached_property
    def cells(self) -> list[Ticks]:
        return [Ticks(name, grid) for name, grid in zip(self.variables, self.grids, strict=True)]

    @cached_property
    def widths(self) -> Floats:
        widths = np.array([float(grid.last * grid.step) for grid in self.grids])
        if not all(1 / WIDEST <= width <= WIDEST for width in widths):
            must = f"be {1 / WIDEST:g} to {WIDEST:g} apart for products of columns"
            raise ParameterError("bounds", must, "", "Measure the values in another unit.")
        return widths

    @cached_property
    def lowest(self) -> Floats:
        return np.array([float(grid.lower) for grid in self.grids])

    @cached_property
    def mechanism(self) -> ProductSums:
        return ProductSums(
            epsilon=self.epsilon, delta=self.delta if self.needs_delta else 0,
            lasts=tuple(grid.last for grid in self.grids), squares=self.squares,
            relation=self.relation, rows=self.rows,
        )  # fmt: skip

    @cached_property
    def _loads(self) -> Floats:
        return self.mechanism.loads()

    def moments(self, drawn: Mapping[str, Any]) -> NoisyMoments:
        """Return what was drawn, in records."""
        sums, own = drawn["sums"], self.mechanism
        return NoisyMoments(
            sums=np.array([x / own.lattice for x in sums]), loads=self._loads, scale=own.scale,
            gaussian=self.needs_delta,
        )  # fmt: skip

    @property
    def own_parts(self) -> tuple[Part, ...]:
        return self.mechanism.parts

    @property
    def how(self) -> str:
        return f"discrete {self.method.title()} noise on {len(self.mechanism.powers)} sums"

    @property
    def name(self) -> str:
        of = f"{self.y} on {', '.join(self.predictors)}"
        return super().name.replace(self.kind, f"{self.kind} of {of}", 1)

    @cached_property
    def caveats(self) -> tuple[str, ...]:
        return self.explained(set())

    def explained(self, found: set[str]) -> tuple[str, ...]:
        """Return the caveats, but not on bounds that were found."""
        clipped = "; ".join(
            f"{name} to {brief(float(grid.lower))} to "
            f"{brief(float(grid.lower + grid.last * grid.step))} in steps of "
            f"{brief(float(grid.step), 2)}"
            for name, grid in zip(self.variables, self.grids, strict=True)
            if name not in found
        )
        told = f"Clamped and rounded: {clipped}; intervals do not cover the resulting error."
        excluded = "Records in which one of the columns is missing are excluded."
        return (*([told] if clipped else []), excluded, ASSUMED, *self.person)

    def names(self) -> list[tuple[str, str | None]]:
        named = [("x", column) for column in self.predictors]
        return [*super().names(), *named, ("y", self.y)]

    def held(self, parameter: str, column: str | None) -> str:
        return NUMBERS if parameter in {"x", "y"} else super().held(parameter, column)

    def draw_all(self, frames: Sequence[Frame]) -> list[dict[str, Any]]:
        powers = self.mechanism.powers
        sums = [tuple(data.products(self.cells, powers)) for data in frames]
        drawn = self.mechanism.release_all(sums, source=self.source)
        return [{"sums": list(own)} for own in drawn]

    def planned(self, beta: float, n: int | None) -> float:
        none = self.moments({"sums": np.zeros(len(self.mechanism.powers))})
        return min(self._planned(none, beta, self.public_n(n)), self.widest)

    @abstractmethod
    def _planned(self, none: NoisyMoments, beta: float, n: int) -> float:
        """Return the error for data as it is planned for."""


def _grid(bounds: tuple[Any, Any], step: Any, bits: int) -> Grid:
    """Return a column's grid; by default a power of two is its step."""
    lower, upper = bounds
    fine = lattice(bounds, step)
    if fine.points is not None:
        must = "be two numbers for each column, as products of dates have no meaning"
        hint = "Convert dates to numbers first, such as years. Use {bounds}."
        raise ParameterError("bounds", must, fine.points, hint, bounds={"age": (0, 120)})
    if step is not None:
        return fine
    low, width, coarse = Fraction(lower), Fraction(upper) - Fraction(lower), fine.step
    while width / coarse >= 1 << bits:
        coarse *= 2
    return Grid(lower, low + width // coarse * coarse, coarse)


# ---- Covariance and correlation ------------------------------------------------------------------


@frozen(kw_only=True, slots=False)
class Covariance(OfColumns):
    r"""The covariance of two columns, with n (not n - 1) below the line.

    Notes
    -----
    *Claim*: intervals hold with at least their confidence. *Checked by*
    ``test_intervals_of_two_columns_cover``. *Claim*: the planned error holds for means that lie 15%
    of the range inside the bounds. *Checked by* ``test_planned_errors_of_two_columns``.

    Examples
    --------
    >>> asked = Covariance(x="a", y="b", bounds={"a": (0, 1), "b": (0, 1)}, epsilon=1)
    >>> release = asked.release({"a": [0, 1] * 5000, "b": [0, 1] * 5000})
    >>> abs(release.value - 0.25) < 0.01
    True
    """

    kind: ClassVar[str] = "covariance"
    found_units: ClassVar[str] = "products of widths, those found being 1"
    required: ClassVar[tuple[str, ...]] = ("x", "y", "bounds")
    text: ClassVar[str] = "Compute the covariance of two columns."
    squares: ClassVar[bool] = False
    examples: ClassVar[tuple[str, str]] = (
        "people.csv --x age --y salary --bounds age:0,120 --bounds salary:0,500000 --epsilon 1",
        "--x age --y salary --bounds age:0,120 --bounds salary:0,500000 --n 1000 --epsilon 1",
    )

    @property
    def _unit(self) -> float:
        return float(self.widths[0] * self.widths[1] / 4)

    def value(self, drawn: Mapping[str, Any]) -> float:
        m = self.moments(drawn)
        return float(np.clip(m.centred[0, 1] / m.n, -1, 1)) * self._unit

    def limits(self, release: Release, beta: float, of: str) -> tuple[float, float]:
        low, high = self.moments(release.drawn).covariance(beta, population=of == "population")
        return low * self._unit, high * self._unit

    @property
    def span(self) -> tuple[float, float]:
        return -self._unit, self._unit

    @property
    def widest(self) -> float:
        return 2 * self._unit

    def _planned(self, none: NoisyMoments, beta: float, n: int) -> float:
        x, y = np.array([-INSIDE, 1.0, 0.0]), np.array([-INSIDE, 0.0, 1.0])
        cross = none.form(x, y)
        room = 1 - INSIDE**2
        worst = max(none.quantile(cross + c * none.loads[0, 0], beta) for c in (-room, room))
        return worst / n * self._unit


@frozen(kw_only=True, slots=False)
class Correlation(OfColumns):
    r"""Pearson's correlation of two columns.

    Notes
    -----
    *Claim*: intervals hold with at least their confidence and stay between -1 and 1. *Checked by*
    ``test_intervals_of_two_columns_cover``. *Claim*: the planned error holds for many records whose
    standard deviations are a quarter of the range. *Checked by*
    ``test_planned_errors_of_two_columns``.

    Examples
    --------
    >>> asked = Correlation(x="a", y="b", bounds={"a": (0, 1), "b": (0, 1)}, epsilon=1)
    >>> release = asked.release({"a": [0, 1] * 5000, "b": [0, 1] * 5000})
    >>> release.value > 0.99
    True
    """

    kind: ClassVar[str] = "correlation"
    measured = ()
    span = -1.0, 1.0
    widest = 2.0
    required: ClassVar[tuple[str, ...]] = ("x", "y", "bounds")
    text: ClassVar[str] = "Compute the correlation of two columns."
    examples: ClassVar[tuple[str, str]] = Covariance.examples

    def value(self, drawn: Mapping[str, Any]) -> float:
        c = self.moments(drawn).centred
        if min(c[0, 0], c[1, 1]) <= 0:
            return 0.0
        return float(np.clip(c[0, 1] / sqrt(c[0, 0] * c[1, 1]), -1, 1))

    def limits(self, release: Release, beta: float, of: str) -> tuple[float, float]:
        return self.moments(release.drawn).correlation(beta, population=of == "population")

    def _planned(self, none: NoisyMoments, beta: float, n: int) -> float:
        x, y = np.eye(3)[1:]
        squares = none.form(x, x) + none.form(y, y)
        cross = none.form(x, y)
        worst = max(none.quantile(cross - r / 2 * squares, beta) for r in (-1.0, 0.0, 1.0))
        return worst / (n / 4)


# ---- Regression ----------------------------------------------------------------------------------


INTERCEPT = "intercept"
KNOTS = 65
EACH = "The interval of each coefficient holds on its own."


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Prediction(ReadOff):
    """Fitted values, read off a regression: they cost nothing more."""

    def to_dict(self) -> dict[str, Any]:
        return {**ReadOff.to_dict(self), "read_off": dict(self.asked)}

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Any:
        release: Any = RegressionRelease.from_dict(facts["release"])
        return release.predict(facts["read_off"]["predict"])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RegressionRelease(Release):
    """A released regression: fitted values are read off it at no further cost."""

    def predict(self, point: Mapping[str, Any]) -> Prediction:
        """Return the fitted value at a point, with intervals for it.

        The interval is about the line: it holds for the mean of y among records with these values,
        as far as that is linear, not for the y of one record.

        Parameters
        ----------
        point
            A number for each predictor.

        Examples
        --------
        >>> import sourdine as sd
        >>> data = {"a": [0, 1, 2, 3] * 5000, "b": [1, 3, 5, 7] * 5000}
        >>> fit = sd.regression(data, y="b", x="a", bounds={"a": (0, 4), "b": (0, 8)}, epsilon=1)
        >>> at_two = fit.predict({"a": 2})
        >>> abs(at_two.value - 5) < 0.1, at_two.interval()[0] < 5.01
        (True, True)
        """
        estimator: Any = self.answer.mechanism
        asked: Regression = getattr(estimator, "part", estimator)
        at = asked.read_point(point)

        def value(part: Release) -> float:
            return asked.fitted_value(part.drawn, at)

        def ends(part: Release, beta: float, of: str) -> tuple[float, float]:
            return asked.fitted_limits(part.drawn, at, beta, of)

        labels = {name: [x] for name, x in zip(asked.predictors, at, strict=True)}
        typed = {"predict": dict(zip(asked.predictors, at, strict=True))}
        return read_off(self, Prediction, str(asked.y), labels, typed, (value, ends))

    @property
    def residual_spread(self) -> Any:
        """The standard deviation of the residuals; for groups, of each."""
        answer = self.answer
        estimator: Any = answer.mechanism
        if not hasattr(estimator, "part"):
            return estimator.residual_spread(answer.drawn)
        spreads = map(estimator.part.residual_spread, answer.drawn["groups"])
        return dict(zip(estimator.keys(answer.drawn), spreads, strict=True))


@frozen(kw_only=True, slots=False)
class Regression(OfColumns):
    r"""Linear regression by ordinary least squares, with an intercept.

    The coefficients are computed from noisy sums of products of all columns, drawn together
    (`sourdine.central.products`). Where noise hides how the predictors vary, a ridge, chosen from
    the noisy sums alone, keeps the solution finite.

    Notes
    -----
    *Claim*: intervals hold with at least their confidence. Those of the sample are about the least
    squares of the given records; those of a population allow for errors whose spread differs from
    record to record. *Checked by* ``test_intervals_of_coefficients_cover``. *Claim*: the planned
    error is that of a fitted value one standard deviation from the mean of each predictor, if
    predictors are spread evenly over their bounds and are uncorrelated. *Checked by*
    ``test_planned_errors_of_two_columns``.

    References
    ----------
    .. [1] Y.-X. Wang, "Revisiting differentially private linear regression: optimal and adaptive
       prediction and estimation in unbounded domain", UAI 2018.
    .. [2] D. Alabi, A. McMillan, J. Sarathy, A. Smith, S. Vadhan, "Differentially private simple
       linear regression", PoPETs 2022.
    .. [3] C. Ferrando, S. Wang, D. Sheldon, "Parametric bootstrap for differentially private
       confidence intervals", AISTATS 2022.

    Examples
    --------
    >>> asked = Regression(y="b", x="a", bounds={"a": (0, 4), "b": (0, 8)}, epsilon=1)
    >>> release = asked.release({"a": [0, 1, 2, 3] * 5000, "b": [1, 3, 5, 7] * 5000})
    >>> abs(release.value["a"] - 2) < 0.1
    True
    """

    kind: ClassVar[str] = "regression"
    shown: ClassVar[Mapping[str, Any]] = {"head": "coefficient"}
    release_kind = RegressionRelease
    span = None
    required: ClassVar[tuple[str, ...]] = ("y", "x", "bounds")
    text: ClassVar[str] = "Fit a linear regression of one column on others."
    examples: ClassVar[tuple[str, str]] = (
        (
            "people.csv --y salary --x age,hours --bounds age:0,120 --bounds hours:0,100 "
            "--bounds salary:0,500000 --epsilon 1"
        ),
        "--y salary --x age --bounds age:0,120 --bounds salary:0,500000 --n 1000 --epsilon 1",
    )

    x: tuple[str, ...] | None = field(  # type: ignore[assignment]
        default=None, converter=read_predictors,
        metadata=param(kinds.NAMES, "The predictors: one column or several.", group=WHAT),
    )  # fmt: skip

    @property
    def predictors(self) -> tuple[str, ...]:
        return tuple(self.x or ())

    def check(self) -> None:
        if INTERCEPT in self.predictors:
            must = f"not use a column named {INTERCEPT!r}, which is a coefficient of its own"
            raise ParameterError("x", must, "", "Rename the column.")
        super().check()

    @property
    def measured(self) -> tuple[str, ...]:
        """The response: errors are those of fitted values."""
        return (str(self.y),)

    def explained(self, found: set[str]) -> tuple[str, ...]:
        """Return the caveats, but not on bounds that were found."""
        return (*super().explained(found), EACH)

    # ---------------------------------------------------------------- fitted values

    def read_point(self, point: Mapping[str, Any]) -> tuple[float, ...]:
        """Return the number of each predictor."""
        example = dict(zip(self.predictors, self.lowest.tolist(), strict=False))
        if not isinstance(point, Mapping) or set(map(str, point)) != set(self.predictors):
            must = f"hold a number for each of {', '.join(self.predictors)}"
            got = given(list(point) if isinstance(point, Mapping) else point)
            raise ParameterError("point", must, got, "Use {point}.", point=example)
        return tuple(float(rational(point[name], "point")) for name in self.predictors)

    def _functional(self, at: Sequence[float]) -> Floats:
        p = len(self.predictors)
        u = 2 * (np.array(at) - self.lowest[:p]) / self.widths[:p] - 1
        return np.concatenate(([1.0], u))

    def _response(self, v: float) -> float:
        return float(self.lowest[-1] + self.widths[-1] * (v + 1) / 2)

    def fitted_value(self, drawn: Mapping[str, Any], at: Sequence[float]) -> float:
        return self._response(float(self._functional(at) @ self.moments(drawn).coefficients))

    def fitted_limits(
        self, drawn: Mapping[str, Any], at: Sequence[float], beta: float, of: str
    ) -> tuple[float, float]:
        population = of == "population"
        ends = self.moments(drawn).fitted(self._functional(at), beta, population=population)
        low, high = map(self._response, ends)
        return low, high

    def residual_spread(self, drawn: Mapping[str, Any]) -> float:
        """Return the standard deviation of the residuals."""
        return sqrt(self.moments(drawn).residual_variance) * float(self.widths[-1]) / 2

    # ---------------------------------------------------------------- coefficients

    def value(self, drawn: Mapping[str, Any]) -> dict[str, float]:
        slopes = self.moments(drawn).coefficients[1:] * self.widths[-1] / self.widths[:-1]
        origin = self.fitted_value(drawn, [0.0] * len(self.predictors))
        return {INTERCEPT: origin, **dict(zip(self.predictors, slopes.tolist(), strict=True))}

    def limits(self, release: Release, beta: float, of: str) -> dict[str, tuple[float, float]]:
        drawn, p = release.drawn, len(self.predictors)
        found = {INTERCEPT: self.fitted_limits(drawn, [0.0] * p, beta, of)}
        m = self.moments(drawn)
        for j, name in enumerate(self.predictors):
            size = float(self.widths[-1] / self.widths[j])
            low, high = m.fitted(np.eye(p + 1)[j + 1], beta, population=of == "population")
            found[name] = low * size, high * size
        return found

    def labels(self, release: Release) -> dict[str, Sequence[Any]]:
        return {"term": [INTERCEPT, *self.predictors]}

    def findings(self, release: Release) -> list[tuple[str, str]]:
        spread = self.residual_spread(release.drawn)
        told = f"standard deviation about {brief(spread, 3)}, without an interval"
        return [("residuals", told if spread else "their spread is hidden by noise")]

    def remarks(self, release: Release, words: PythonWording) -> tuple[str, ...]:
        ends = self.limits(release, 1 - self.display.confidence, "sample")
        whole = [term for term, pair in ends.items() if isinf(pair[0]) or isinf(pair[1])]
        if not whole:
            return ()
        epsilon = words.subject("epsilon")
        use = f"Use a larger {epsilon}, fewer predictors, or bounds nearer to the values."
        return (f"Noise hides the coefficient of {', '.join(whole)}: it may be any number. {use}",)

    @property
    def widest(self) -> float:
        return float(self.widths[-1])

    def _planned(self, none: NoisyMoments, beta: float, n: int) -> float:
        p = len(self.predictors)
        solved = np.concatenate(([1.0], np.full(p, sqrt(3)), [0.0]))
        weights = none.form(solved, np.eye(p + 2)[-1])
        return none.quantile(weights, beta) / n * self.widest / 2

    # ---------------------------------------------------------------- charts

    def chart(self, release: Release, truth: Any = None) -> Chart:
        """Return the fitted line with its band; of several predictors, their coefficients."""
        if len(self.predictors) > 1:
            return self._coefficients(release.columns(), truth)
        estimator: Any = release.mechanism
        parts = [("", release.drawn)]
        if estimator is not self:
            names = map(key_text, estimator.keys(release.drawn))
            parts = list(zip(names, release.drawn["groups"], strict=True))
        x = (self.lowest[0] + self.widths[0] * np.linspace(0, 1, KNOTS)).tolist()
        bottom, top = self._response(-2), self._response(2)  # the band is cut off there
        beta = (1 - self.display.confidence) / len(parts)
        true = None
        if truth is not None:
            true = [truth[INTERCEPT] + truth[self.predictors[0]] * at for at in x]
        series = []
        for name, drawn in parts:
            value = [self.fitted_value(drawn, [at]) for at in x]
            band = [self.fitted_limits(drawn, [at], beta, "sample") for at in x]
            low = [max(min(a, v), bottom) for (a, _), v in zip(band, value, strict=True)]
            high = [min(max(b, v), top) for (_, b), v in zip(band, value, strict=True)]
            series.append(ChartSeries(name=name, x=x, value=value, low=low, high=high, truth=true))
        return Chart(
            mark="line", x=ChartAxis(label=self.predictors[0], view=(x[0], x[-1])),
            y=ChartAxis(label=str(self.y), view=self._view(series)), series=series,
            grouped=estimator is not self, told=charts.told(release.columns()),
        )  # fmt: skip

    def _view(self, series: Sequence[ChartSeries]) -> tuple[float, float]:
        """Return what the axis of y shows: the lines and bands, within the bounds of y."""
        bottom, top = self._response(-1), self._response(1)
        low = max(min(min(one.low) for one in series), bottom)
        high = min(max(max(one.high) for one in series), top)
        room = max(0.1 * (high - low), 0.02 * (top - bottom))
        return max(low - room, bottom), min(high + room, top)

    def _coefficients(self, columns: Columns, truth: Any) -> Chart:
        """Return a dot for each slope: what y changes by across the range of its column."""
        keep = [i for i, term in enumerate(columns.labels["term"]) if term != INTERCEPT]
        size = dict(zip(self.predictors, self.widths.tolist(), strict=False))
        factors = [size[columns.labels["term"][i]] for i in keep]
        part = columns.picked(keep)

        def scaled(numbers: Sequence[Any] | None) -> list[Any]:
            """Return changes; an interval without ends is not drawn."""
            known = zip(numbers or part.values, part.values, factors, strict=True)
            return [(v if x is None else x) * f for x, v, f in known]

        values, lower, upper = map(scaled, (part.values, part.lower, part.upper))
        known = truth
        if isinstance(truth, Mapping):
            known = [truth[t] * f for t, f in zip(part.labels["term"], factors, strict=True)]
        label = f"change of {self.y} across the range of the column"
        part = replace(part, values=values, lower=lower, upper=upper)
        return charts.dots(part, known, label=label)
