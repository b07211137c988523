"""A plan, and several under one total."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

from sourdine.central import ByGroup
from sourdine.central.target import RISK
from sourdine.privacy.printing import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sourdine.central import Statistic
    from sourdine.exact.parameters import Number

__all__ = ["Plan", "Plans"]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A statistic with its epsilon, and the error it will have. It prints as a table.

    Parameters
    ----------
    statistic
        What would be released.
    n
        The public number of records (in each group) that the error is for.
    confidence
        The probability with which the error holds.
    target
        The error that was asked for, if one was.
    left
        What a session has left, if the plan is for one.
    """

    statistic: Statistic
    n: int | None = None
    confidence: Fraction = 1 - RISK
    target: float | None = None
    left: Fraction | None = None

    @property
    def epsilon(self) -> Fraction:
        """What it will cost."""
        return Fraction(self.statistic.epsilon)

    @cached_property
    def error(self) -> float:
        """What the answer will be off by at most, with probability `confidence`."""
        return self.at(self.epsilon)

    @property
    def fits(self) -> bool:
        """Whether a session has so much left."""
        return self.left is None or self.epsilon <= self.left

    def at(self, epsilon: Number) -> float:
        """Return the error at another epsilon."""
        return self.statistic_at(epsilon).error(1 - self.confidence, n=self.n)

    def statistic_at(self, epsilon: Number) -> Statistic:
        """Return the statistic at another epsilon."""
        changed: dict[str, Any] = {"epsilon": epsilon}
        if isinstance(self.statistic, ByGroup):
            changed["of"] = replace(self.statistic.whole, epsilon=epsilon)
        return replace(self.statistic, **changed)

    @property
    def name(self) -> str:
        """The statistic, its column and its groups, in a few words."""
        part = self.statistic.part if isinstance(self.statistic, ByGroup) else None
        column = f" of {self.statistic.column}" if self.statistic.column else ""
        return f"{(part or self.statistic).kind}{column}" + (" by group" if part else "")

    def to_dict(self) -> dict[str, Any]:
        """Return everything as what JSON knows."""
        return {
            "statistic": self.statistic.facts(),
            "n": self.n,
            "confidence": float(self.confidence),
            "epsilon": float(self.epsilon),
            "error": self.error,
        }

    def to_json(self) -> str:
        """Return everything as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def table(self) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
        """Return heads and rows, as texts."""
        return Plans(plans=(self,)).table()

    def __str__(self) -> str:
        left = "" if self.left is None else f"\nleft  epsilon {shown(self.left, up=False)}"
        misfit = "" if self.fits else ", too little for this"
        return f"{_lines(*self.table())}\nby    {self.statistic}{left}{misfit}"

    def _repr_html_(self) -> str:
        return _html(*self.table(), str(self.statistic))

    def plot(self, *, path: str | None = None) -> Any:  # noqa: ANN401
        """Draw the error against epsilon, and this plan as a dot; ``path=`` saves the picture."""
        from sourdine.look import figures  # noqa: PLC0415 - matplotlib is loaded there, late

        figure, axes = figures.canvas()
        curve = [float(self.epsilon) * 10 ** (k / 12) for k in range(-12, 13)]
        axes.plot(curve, [self.at(epsilon) for epsilon in curve], color=figures.BLUE, lw=1.8)
        axes.plot(float(self.epsilon), self.error, "o", color=figures.RED, ms=7)
        axes.annotate(
            f"epsilon {shown(self.epsilon)}\nerror {self.error:.4g}",
            *((float(self.epsilon), self.error), (8, 8)),
            textcoords="offset points", color=figures.INK, fontsize=9,
        )  # fmt: skip
        axes.set_xscale("log")
        axes.set_yscale("symlog" if self.at(curve[-1]) == 0 else "log")
        axes.xaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_major_formatter("{x:g}")
        axes.set_xlabel("epsilon", color=figures.INK)
        axes.set_ylabel(_head(self), color=figures.INK)
        axes.grid(color="#e4e7eb", lw=0.8, which="both")
        title = f"{self.name.capitalize()}: the error that an epsilon buys"
        axes.set_title(title, loc="left", color=figures.INK, fontsize=11)
        if path is not None:
            figure.savefig(path)
        return figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Plans:
    """Several statistics under one total. They print as a table.

    Parameters
    ----------
    plans
        A plan for each statistic.
    wanted
        The error that each was wanted with.
    """

    plans: tuple[Plan, ...]
    wanted: tuple[float, ...] = ()

    @property
    def epsilon(self) -> Fraction:
        """What all will cost together."""
        return sum((plan.epsilon for plan in self.plans), Fraction(0))

    @property
    def error(self) -> tuple[float, ...]:
        """The error of each."""
        return tuple(plan.error for plan in self.plans)

    @property
    def factor(self) -> float:
        """How many times its wanted error the worst of them has."""
        ratios = [e / w for e, w in zip(self.error, self.wanted, strict=True) if w > 0]
        return max(ratios, default=1.0)

    def __iter__(self) -> Iterator[Plan]:
        return iter(self.plans)

    def __len__(self) -> int:
        return len(self.plans)

    def __getitem__(self, i: int) -> Plan:
        return self.plans[i]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as what JSON knows."""
        return {
            "epsilon": float(self.epsilon),
            "plans": [plan.to_dict() for plan in self.plans],
            "wanted": list(self.wanted),
        }

    def to_json(self) -> str:
        """Return everything as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def table(self) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
        """Return heads and rows, as texts."""
        wanted = [f"{w:.4g}" for w in self.wanted]
        columns = {
            "statistic": [plan.name for plan in self.plans],
            "n": ["" if plan.n is None else f"{plan.n:,}".replace(",", " ") for plan in self.plans],
            "epsilon": [shown(plan.epsilon) for plan in self.plans],
            _head(*self.plans): [f"{plan.error:.4g}" for plan in self.plans],
            "wanted": wanted,
        }
        kept = {head: cells for head, cells in columns.items() if any(cells)}
        return list(kept), list(zip(*kept.values(), strict=True))

    def __str__(self) -> str:
        return f"{_lines(*self.table())}\nin all  epsilon {shown(self.epsilon)}"

    def _repr_html_(self) -> str:
        return _html(*self.table(), f"epsilon {shown(self.epsilon)} in all")


def _head(*plans: Plan) -> str:
    """Return what the errors are called: those of ranks are parts of n."""
    ranks = {"quantiles" in plan.name for plan in plans}
    confidence = {float(100 * plan.confidence) for plan in plans}
    what = "error or rank error" if len(ranks) > 1 else "rank error" if True in ranks else "error"
    return what + (f" ({confidence.pop():g} %)" if len(confidence) == 1 else "")


def _lines(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    width = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    return "\n".join(
        "  ".join(text.rjust(w) for text, w in zip(line, width, strict=True)).rstrip()
        for line in (heads, *rows)
    )


def _html(heads: Sequence[str], rows: Sequence[Sequence[str]], caption: str) -> str:
    head = "".join(f"<th>{escape(text)}</th>" for text in heads)
    cells = ["".join(f"<td>{escape(text)}</td>" for text in row) for row in rows]
    body = "".join(f"<tr>{row}</tr>" for row in cells)
    style = "caption-side:bottom;text-align:left"
    return (
        f"<table><caption style='{style}'>{escape(caption)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )
