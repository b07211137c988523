"""What share of the people has each category, from what their reports support."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sourdine.errors import LEFT_OUT, ParameterError, ParameterTypeError
from sourdine.exact import flag, given, integer, kind, listed
from sourdine.local.estimators.bayes import em
from sourdine.local.estimators.estimate import Estimate
from sourdine.local.estimators.simplex import norm_sub
from sourdine.local.estimators.supports import population_ends, sample_ends
from sourdine.mechanisms.frequency_oracle import FrequencyOracle
from sourdine.mechanisms.mechanism import settle
from sourdine.release.answer import plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from sourdine.privacy import Guarantee
    from sourdine.release import Release

    Floats = NDArray[np.float64]

__all__ = ["MANY", "Frequencies", "frequencies"]

MANY = 40
"""How many categories are shown; of more, the largest."""

WHOLE = 1 << 18
"""Iterative Bayes works on a matrix of this many entries at most."""

FINE, STEPS = 1e-4, 2000
"""Iterative Bayes stops once a step raises the log likelihood by less, or after this many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frequencies(Estimate):
    """Public facts of a survey: all that shares and their intervals need beside the supports.

    Parameters
    ----------
    randomiser
        What drew the reports, as a text.
    p, q
        The chances that a report supports the person's category, and that it supports another.
    categories
        How many categories there are.
    reports
        How many people reported.
    names
        What the categories are called.
    consistent
        What made the shares consistent, if anything did.
    together
        Whether intervals hold for all categories together.
    several
        Whether a person may have several categories.
    """

    kind: ClassVar[str] = "frequencies"
    head: ClassVar[str] = "share"
    even: ClassVar[bool] = True
    most: ClassVar[int | None] = MANY

    randomiser: str
    p: float | Sequence[float] | Floats
    q: float | Sequence[float] | Floats
    categories: int
    reports: int
    names: Sequence[Any] | None = None
    consistent: str | None = None
    together: bool = False
    several: bool = False

    def __post_init__(self) -> None:
        p, q = _plain(self.p), _plain(self.q)
        if not np.all(np.subtract(p, q) > 0):
            raise ParameterError(
                "the randomiser",
                "tell categories apart",
                "chances that are equal in double precision",
                "Type a larger epsilon, such as {epsilon}.",
                epsilon=1,
            )
        if self.consistent not in (None, "norm-sub", "em"):
            raise ParameterError(
                "consistent",
                "be None, 'norm-sub' or 'em'",
                given(self.consistent),
                "Leave {consistent} out for unbiased shares.",
                consistent=LEFT_OUT,
            )
        settle(self, p=p, q=q, names=_names(self.names, self.categories))
        settle(self, together=flag(self.together, "together"))
        settle(self, several=flag(self.several, "several"))

    def shares(self, support: ArrayLike) -> Floats:
        r"""Return :math:`\hat f = \frac{c/n - q}{p - q}`, unbiased; equal ones without reports."""
        if not self.reports:
            return np.full(self.categories, 1 / self.categories)
        p, q = np.asarray(self.p), np.asarray(self.q)
        return np.asarray((np.asarray(support) / self.reports - q) / (p - q))

    def variance(self, shares: ArrayLike) -> Floats:
        r"""Return :math:`\frac{f p(1-p) + (1-f) q(1-q)}{n(p-q)^2}` at shares cut to [0, 1].

        It is that of `shares` for the people who reported; without reports it is 1/4, which no
        number in [0, 1] passes.
        """
        f, p, q = np.clip(shares, 0, 1), np.asarray(self.p), np.asarray(self.q)
        if not self.reports:
            return np.full(self.categories, 0.25)
        return np.asarray((f * p * (1 - p) + (1 - f) * q * (1 - q)) / (self.reports * (p - q) ** 2))

    def limits(self, release: Release, beta: float, of: str) -> tuple[Floats, Floats]:
        """Return the ends of every category's share, in [0, 1]."""
        each = beta / (self.categories if self.together else 1)
        ends = population_ends if of == "population" else sample_ends
        support = np.asarray(release.drawn["support"], np.int64)
        return ends(support, self.reports, self.p, self.q, each)

    def labels(self, release: Release) -> dict[str, Sequence[Any]]:
        """Return the name of each category, or its code."""
        del release
        return {"category": self.names or range(self.categories)}

    def value(self, drawn: Mapping[str, Any]) -> Floats:
        """Return the shares, made consistent or not."""
        return np.asarray(drawn["consistent" if self.consistent else "raw"], np.float64)

    @property
    def caveats(self) -> tuple[str, ...]:
        """What a reader must know: a function of public facts."""
        nobody = () if self.reports else ("Nobody reported: nothing is known.",)
        several = (SEVERAL,) if self.several else ()
        return (*nobody, MADE[self.consistent], *several, ALL if self.together else EACH)

    def plot(self, release: Release, **options: Any) -> Any:  # noqa: ANN401
        """Draw a dot with its interval for each category."""
        from sourdine.local.estimators import figures  # noqa: PLC0415 - matplotlib, late

        return figures.shares(self, release, **options)

    def to_dict(self) -> dict[str, Any]:
        """Return the public facts as JSON knows them."""
        public = {f.name: getattr(self, f.name) for f in fields(self)}
        return {"statistic": self.kind, **plain(public)}

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Frequencies:
        """Return what wrote these facts."""
        return cls(**{name: x for name, x in facts.items() if name != "statistic"})

    def __str__(self) -> str:
        people = "1 report" if self.reports == 1 else f"{self.reports} reports"
        return f"frequencies, {people} by {self.randomiser}"


MADE = {
    None: "Shares are unbiased: one may lie below 0 or above 1, by noise.",
    "norm-sub": "Shares are the nearest to the unbiased ones that are not negative and sum to 1: "
    "small ones are biased. Intervals are of the unbiased ones.",
    "em": "Shares are the most likely ones that are not negative and sum to 1: small ones are "
    "biased. Intervals are of the unbiased ones.",
}
SEVERAL = "A person may have several: the shares need not add up to 1."
EACH = "Each interval holds for its own category, not all of them together."
ALL = "The intervals hold for all categories together."


def frequencies(  # noqa: PLR0913 - each has its own meaning, and all but three a default
    oracle: FrequencyOracle,
    tally: ArrayLike,
    reports: int,
    *,
    labels: Sequence[Any] | None = None,
    consistent: str | None = None,
    together: bool = False,
    several: bool = False,
    cost: Guarantee | None = None,
) -> Release:
    r"""Estimate the share of each category from a tally of reports.

    .. math:: \hat f_v = \frac{c_v/n - q}{p - q}, \qquad
              \mathrm{Var} \hat f_v = \frac{f_v p(1-p) + (1-f_v) q(1-q)}{n(p-q)^2}

    where :math:`c_v` of :math:`n` reports support :math:`v`.

    Parameters
    ----------
    oracle
        What randomised the answers.
    tally
        ``oracle.tally(reports)``; tallies of several batches may be added.
    reports
        How many reports were tallied, n.
    labels
        The names of the categories.
    consistent
        None: unbiased shares. ``"norm-sub"``: the nearest that are not negative and sum to 1.
        ``"em"``: the most likely such, for randomisers whose tally counts single reports.
    together
        Whether intervals hold for all categories together, by Bonferroni.
    several
        Whether a person may have several categories.
    cost
        What a person's report cost, where it is not ``oracle.guarantee``: for instance
        ``Guarantee.none(LOCAL)`` if the reports were drawn from a seeded source.

    Returns
    -------
    Release
        ``value`` holds the shares. ``drawn`` always keeps the unbiased ones (``raw``), their
        ``variance``, the ``support`` of each category and the number of ``reports``; intervals
        follow from the supports, whatever made the shares consistent.

    Notes
    -----
    *Claim*: raw shares are unbiased and have the variance given. *Checked by*
    ``test_shares_are_unbiased``. *Claim*: intervals hold as `supports` says. *Checked by*
    ``test_intervals_cover_in_surveys``.

    References
    ----------
    .. [1] T. Wang, J. Blocki, N. Li, S. Jha, "Locally differentially private protocols for
       frequency estimation", USENIX Security 2017.

    Examples
    --------
    >>> from sourdine.mechanisms import RandomizedResponse
    >>> survey = RandomizedResponse(epsilon=2, categories=3)
    >>> print(frequencies(survey, [600, 250, 150], 1000, labels=["bus", "car", "foot"]))
    category  share  from (95 %)  to (95 %)
    bus       0.725        0.690      0.761
    car       0.211        0.180      0.241
    foot      0.064        0.035      0.093
    cost  epsilon 2, any two inputs of one person
    how   frequencies, 1000 reports by RandomizedResponse(epsilon=2, categories=3)
    note  Shares are unbiased: one may lie below 0 or above 1, by noise.
    note  Each interval holds for its own category, not all of them together.
    """
    if not isinstance(oracle, FrequencyOracle):
        raise ParameterTypeError(
            "oracle",
            "be a randomiser of categories",
            kind(oracle),
            "Type RandomizedResponse(epsilon=1, categories=4).",
        )
    counts = _read_tally(oracle, tally)
    n = integer(reports, "reports", least=0, most=1 << 62, example=int(counts.sum()))
    p, q = oracle.chances
    survey = Frequencies(
        randomiser=str(oracle),
        p=p,
        q=q,
        categories=oracle.categories,
        reports=n,
        names=labels,
        consistent=consistent,
        together=together,
        several=several,
    )
    support = oracle.support(counts)
    if support.size and not (support.min() >= 0 and support.max() <= n):
        raise ParameterError(
            "reports",
            "be how many were tallied",
            f"{n}",
            "More support one category: count all reports of the tally.",
        )
    raw = survey.shares(support)
    drawn: dict[str, Any] = {
        "raw": raw,
        "variance": survey.variance(raw),
        "support": support,
        "reports": n,
    }
    if consistent == "norm-sub":
        drawn["consistent"] = norm_sub(raw)
    if consistent == "em":
        likely = em(_channel(oracle, counts, n), counts, change=FINE, most=STEPS)
        drawn["consistent"] = likely
    return survey.release(oracle.guarantee if cost is None else cost, drawn)


def _read_tally(oracle: FrequencyOracle, tally: ArrayLike) -> NDArray[np.int64]:
    counts = np.asarray(tally)
    if counts.shape != (oracle.cells,) or counts.dtype.kind not in "iu":
        raise ParameterError(
            "tally",
            f"be {oracle.cells} whole numbers",
            f"{counts.dtype} of the shape {counts.shape}",
            "Type oracle.tally(reports).",
        )
    return counts.astype(np.int64, copy=False)


def _channel(oracle: FrequencyOracle, counts: NDArray[np.int64], n: int) -> Floats:
    """Return the chance of each report, a row, for each category."""
    single = oracle.cells == oracle.codes and counts.sum() == n
    if not single or oracle.codes * oracle.categories > WHOLE:
        raise ParameterError(
            "consistent",
            f"be 'norm-sub' for {oracle}",
            "'em'",
            f"The other needs counts of single reports, at most {WHOLE} with all categories. "
            "Type {consistent}.",
            consistent="norm-sub",
        )
    every = np.arange(oracle.codes)
    return np.stack([oracle.law(v).pmf(every) for v in range(oracle.categories)], axis=1)


def _plain(chance: Any) -> float | tuple[float, ...]:  # noqa: ANN401
    return tuple(map(float, chance)) if np.ndim(chance) else float(chance)


def _names(labels: Sequence[Any] | None, k: int) -> tuple[Any, ...] | None:
    """Return the labels as JSON can hold them."""
    if labels is None:
        return None
    names = listed(labels, "labels", labels=[f"category {i}" for i in range(k)])
    plain = [x.item() if isinstance(x, np.generic) else x for x in names]
    if len(plain) != k:
        raise ParameterError(
            "labels",
            f"name each of the {k} categories",
            f"{len(plain)} names",
            "Type a name for each code from 0 on, or leave {labels} out.",
            labels=LEFT_OUT,
        )
    known = (str, int, float, bool, type(None))
    return tuple(x if isinstance(x, known) else str(x) for x in plain)
