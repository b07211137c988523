"""The same statistic for each of several groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import expm1, log1p
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sourdine.central.statistic import Statistic, charged
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import rational
from sourdine.mechanisms.mechanism import read_beta
from sourdine.noise import SYSTEM
from sourdine.release import SHOWN, Release, read_confidence, rebuilt
from sourdine.tally import Codes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sourdine.exact.parameters import Number
    from sourdine.noise import Source
    from sourdine.tally import Frame

__all__ = ["ByGroup", "by_group"]


@dataclass(frozen=True, kw_only=True)
class ByGroup(Statistic):
    r"""A statistic of the rows of each key that the caller lists.

    A key that is not in the data gets an ordinary noisy answer; rows with other keys are in none.

    Parameters
    ----------
    of
        The statistic, with the epsilon of the whole.
    by
        The column that holds the keys.
    keys
        The public keys; which keys occur is private.

    Notes
    -----
    *Claim*: the whole costs what ``of`` says. A record is in one group, so if it is added or
    removed, one group's answer moves and each may spend the whole epsilon. If it is replaced it may
    leave one group and enter another, so each spends half. A person of several rows spends in each
    group in proportion to the rows there, as rows are bounded across all groups first. *Checked by*
    ``test_groups_cost_what_they_say``.

    Examples
    --------
    >>> from sourdine.central.count import Count
    >>> both = by_group(Count(epsilon=1, relation="substitute"), "sex", ["f", "m"])
    >>> both.part.epsilon
    Fraction(1, 2)
    """

    kind: ClassVar[str] = "by_group"

    of: Statistic | Mapping[str, Any]
    by: str
    keys: Sequence[Any]
    codes: Codes = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.of, Mapping):
            object.__setattr__(self, "of", rebuilt(self.of))
        object.__setattr__(self, "of", self.whole.of_private_number())
        if not isinstance(self.by, str):
            raise ParameterTypeError(
                f"by must be a column's name, got something of type {type(self.by).__name__}. "
                f"Type it, as by='region'."
            )
        object.__setattr__(self, "codes", Codes(self.by, self.keys))
        object.__setattr__(self, "keys", tuple(self.codes.categories))
        if not self.keys:
            raise ParameterError("keys must hold at least one, got none. Type keys=['a', 'b'].")

    @property
    def whole(self) -> Statistic:
        """The statistic, with the epsilon of the whole."""
        assert isinstance(self.of, Statistic)  # noqa: S101 - set so in __post_init__
        return self.of

    @cached_property
    def part(self) -> Statistic:
        """The statistic of one group, with what it spends."""
        share = Fraction(1, 2) if self.substitutes else Fraction(1)
        return replace(
            self.whole, epsilon=Fraction(self.epsilon) * share, delta=Fraction(self.delta) * share
        )

    def __str__(self) -> str:
        return f"{self.part}, for each of {len(self.keys)} keys of {self.by}"

    @property
    def caveats(self) -> tuple[str, ...]:
        """What a reader must know."""
        return (
            *self.part.caveats,
            f"Rows whose {self.by} is none of the listed keys are in no group.",
            "The intervals hold for all groups together.",
        )

    def release(self, data: Frame, *, source: Source = SYSTEM) -> Release:
        """Release each group's answer."""
        parts = [self.part.release(rows, source=source) for rows in data.split(self.by, self.keys)]
        return Release(
            value={key: _plain(p.value) for key, p in zip(self.keys, parts, strict=True)},
            cost=charged(self, source),
            mechanism=self,
            caveats=self.caveats,
            drawn={"groups": [dict(p.drawn) for p in parts]},
            grid=parts[0].grid,
        )

    def restore(self, value: Any, drawn: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Give the keys the types they had."""
        del drawn
        return dict(zip(self.keys, value.values(), strict=True))

    def parts(self, release: Release) -> list[Release]:
        """Return a release for each group, with what was drawn for it."""
        return [
            replace(release, value=value, mechanism=self.part, drawn=drawn)
            for value, drawn in zip(release.value.values(), release.drawn["groups"], strict=True)
        ]

    def error(self, beta: Number = 0.05, *, n: int | None = None) -> float:
        """Return what no group's error passes, but with ``beta``, for groups of ``n`` records."""
        return self.part.error(_each(read_beta(beta), len(self.keys)), n=n)

    def between(self, release: Release, confidence: Number, of: str) -> Any:  # noqa: ANN401
        """Return each group's ends; they hold for all groups together."""
        each = 1 - _each(read_confidence(confidence), len(self.keys))
        ends = [self.part.between(part, each, of) for part in self.parts(release)]
        return dict(zip(self.keys, ends, strict=True))

    def table(
        self, release: Release, confidence: Number = SHOWN
    ) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
        """Return the rows of each group, with its key in front."""
        each = 1 - _each(read_confidence(confidence), len(self.keys))
        lines: list[Sequence[str]] = []
        heads: Sequence[str] = ()
        for key, part in zip(self.keys, self.parts(release), strict=True):
            heads, rows = self.part.table(part, each)
            lines += [(str(key), *line) for line in rows]
        return (self.by, *heads), lines

    def plot(self, release: Release, **options: Any) -> Any:  # noqa: ANN401
        """Draw a dot with its interval for each group."""
        from sourdine.look import figures  # noqa: PLC0415 - matplotlib is loaded there, late

        return figures.dots(release.value, release, **options)


def by_group(statistic: Statistic, by: str, keys: Sequence[Any] | None) -> ByGroup:
    """Return the statistic for each key."""
    if keys is None or isinstance(keys, str):
        raise ParameterError(
            f"keys must be a list of the groups, got {keys!r}. Which groups occur is private, so "
            f"list those that may, from public knowledge. Type them, as keys=['a', 'b']."
        )
    if getattr(statistic, "unknown", False):
        raise ParameterError(
            "keys must be known for a histogram by group, got 'unknown'. List the categories."
        )
    return ByGroup(
        of=statistic,
        by=by,
        keys=keys,
        epsilon=statistic.epsilon,
        delta=statistic.delta,
        relation=statistic.relation,
        rows=statistic.rows,
        column=statistic.column,
    )


def _each(beta: float, m: int) -> float:
    """Return the risk of each of ``m`` independent answers that adds up to ``beta``."""
    return float(rational(-expm1(log1p(-beta) / m), "beta")) if beta < 1 else 1.0


def _plain(value: Any) -> Any:  # noqa: ANN401
    return value.tolist() if isinstance(value, np.ndarray) else value
