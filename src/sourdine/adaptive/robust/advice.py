"""Which algorithm to take when updates depend on answers: the cheapest that is proved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sourdine.adaptive.robust.choices import CHOICES, Candidate, Need
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import given, integer, kind, number
from sourdine.presentation.numbers import shown
from sourdine.release import Sheet, Shown, beta_of

if TYPE_CHECKING:
    from sourdine.exact.parameters import Number

__all__ = ["Advice", "advise"]

STEPS = 100_000
UNIVERSE = 100_000_000
MODELS = {
    "insertions": "insertions",
    "insertion": "insertions",
    "insertion only": "insertions",
    "insertions only": "insertions",
    "subset": "subset",
    "subsets": "subset",
    "merge": "subset",
    "merges": "subset",
    "turnstile": "turnstile",
    "deletion": "turnstile",
    "deletions": "turnstile",
}
"""What may be typed, and the model that is meant."""

NAMES = ("insertions", "subset", "merge", "turnstile")
"""What is offered to type."""


@dataclass(frozen=True, slots=True)
class Advice(Shown):
    """The choices for a task, cheapest first, and the one to take.

    Parameters
    ----------
    task, model
        What was asked.
    need
        The numbers that the memory was computed for.
    choices
        All of them, by memory.
    """

    task: str
    model: str
    need: Need
    choices: tuple[Candidate, ...]

    @property
    def best(self) -> Candidate:
        """The cheapest choice that is proved."""
        return next(choice for choice in self.choices if choice.proved)

    def sheet(self) -> Sheet:
        """Return what is printed; the choice to take is marked."""
        rows = [
            (">" if c is self.best else "", c.name, size(c.memory), c.standing, c.note)
            for c in self.choices
        ]
        heads = ("", "choice", "memory", "standing", "why")
        return Sheet(heads=heads, lines=rows, title=self._asked())

    def _asked(self) -> str:
        need = self.need
        return (
            f"{self.task}, {self.model}: {shown(need.steps, 1)} adaptive steps, "
            f"{shown(need.universe, 1)} items, "
            f"error {need.error:g}, confidence {1 - need.beta:g}"
        )


def advise(  # noqa: PLR0913 - a task and the numbers of it
    task: str,
    model: str,
    *,
    steps: int | None = None,
    universe: int | None = None,
    error: Number = 0.25,
    confidence: Number = 0.95,
) -> Advice:
    r"""Return the choices for a task under updates that depend on answers, with their memory.

    Parameters
    ----------
    task
        ``"distinct"``, ``"heavy hitters"``, ``"quantiles"``, ``"f2"``, ``"any element"``, or
        ``"lipschitz"``: a value that an update changes by a bounded amount, such as a minimum cut.
    model
        ``"insertions"`` where nothing is ever taken away; ``"subset"`` or ``"merge"`` where
        sketches of chosen subsets are asked for, or merged; ``"turnstile"`` where there are
        deletions.
    steps
        :math:`T`, the answers that somebody sees; 100 000 if left out. Where a proof counts looks,
        two are allowed for each.
    universe
        :math:`N`, how many items there can be; 100 000 000 if left out.
    error, confidence
        How far, relatively, an answer may be off, and with which probability none is farther.

    Notes
    -----
    "proved" has a theorem; "survived attacks" has none: it withstood the attacks of
    `sourdine.adaptive.attacks` for that many steps, and a better one may come. What was not
    attacked for as long is left out. Only what is proved is recommended.
    *Checked by* ``test_only_what_is_proved_is_recommended``.

    Examples
    --------
    >>> advise("distinct", "insertions").best.name
    'keyed HyperLogLog'
    >>> print(advise("any element", "turnstile", universe=4096))  # doctest: +ELLIPSIS
    any element, turnstile: 100 000 adaptive steps, 4096 items, error 0.25, confidence 0.95
       choice            memory  standing  why
    >  bitset             512 B  proved    linear memory is necessary: ...
       l0-sampler 2 x 8    5 kB  broken    ...
    """
    name, kind = _read_task(task), _read_model(model)
    need = Need(
        steps=STEPS if steps is None else integer(steps, "steps", least=1),
        universe=UNIVERSE if universe is None else integer(universe, "universe", least=2),
        error=float(number(error, "error", above=0, most=1)),
        beta=float(beta_of(confidence)),
    )
    found = CHOICES.get((name, kind), CHOICES[name, "turnstile"])
    choices = sorted(found(need), key=lambda choice: choice.memory)
    return Advice(name, kind, need, tuple(choices))


def size(memory: int) -> str:
    """Return bytes as a person reads them.

    Examples
    --------
    >>> size(640), size(12_345), size(1_600_000_000)
    ('640 B', '12 kB', '1.6 GB')
    """
    amount = float(memory)
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if amount < 999.5 or unit == "TB":
            break
        amount /= 1000
    digits = 0 if unit == "B" or amount >= 9.95 else 1
    return f"{amount:.{digits}f}".removesuffix(".0") + f" {unit}"


def _read_task(task: object) -> str:
    known = sorted({name for name, _ in CHOICES})
    if not isinstance(task, str):
        raise ParameterTypeError(
            "task", "be a name", kind(task), "Type {task}, or another name.", task=known[0]
        )
    name = _spaced(task)
    if name not in known:
        raise ParameterError(
            "task",
            f"be one of {', '.join(map(repr, known))}",
            given(task),
            "Type {task} for any value that an update changes by a bounded amount.",
            task="lipschitz",
        )
    return name


def _read_model(model: object) -> str:
    if not isinstance(model, str):
        raise ParameterTypeError(
            "model", "be a name", kind(model), "Type {model}, or another name.", model=NAMES[0]
        )
    name = _spaced(model)
    if name not in MODELS:
        raise ParameterError(
            "model",
            f"be one of {', '.join(map(repr, NAMES))}",
            given(model),
            "Type {model} where items can be deleted.",
            model="turnstile",
        )
    return MODELS[name]


def _spaced(name: str) -> str:
    return name.strip().lower().replace("-", " ").replace("_", " ")
