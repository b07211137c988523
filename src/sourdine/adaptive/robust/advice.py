"""`advise`: the cheapest algorithm that withstands adaptive updates."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, log, log2
from typing import TYPE_CHECKING

from sourdine.adaptive.robust.proof import copies_needed
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import given, integer, kind, number
from sourdine.results.release import beta_of
from sourdine.results.tables import Displayable, Sheet, shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from sourdine.exact import Number


# ---- How much memory the choices of `advise` take, in bytes --------------------------------------
#
# Each formula is that of the theorem behind the choice, evaluated; where a sketch must be right at
# all :math:`T` steps with probability :math:`1 - \beta`, its chance to fail at one is
# :math:`\beta/T`.


def bitset_bytes(universe: int) -> int:
    """Return an eighth: one bit for each item there can be."""
    return ceil(universe / 8)


def table_bytes(universe: int) -> int:
    """Return 16 for each item: its name and a number."""
    return 16 * universe


def hll_bytes(error: float, beta: float) -> int:
    r"""Return the registers of a HyperLogLog, one byte each.

    A power of two with :math:`1.04\,z_{\delta/2}/\sqrt m \le \alpha`, its standard error times the
    normal quantile: its error is close to normal. (That a keyed sketch keeps its law is proved;
    this size of it is an approximation, 3 in 2000 for 1 in 1000 at 16 registers.)
    """
    from scipy.special import ndtri

    registers = (1.04 * float(ndtri(beta / 2)) / error) ** 2
    return max(16, int(2 ** ceil(log2(registers))))


def ams_bytes(error: float, beta: float) -> int:
    r"""Return the counters of a tug-of-war sketch, eight bytes each.

    :math:`2 e^{-r(\epsilon^2/4 - \epsilon^3/6)} \le \delta` rows (Achlioptas 2003).
    """
    return 8 * ceil(log(2 / beta) / (error**2 / 4 - error**3 / 6))


def flips_needed(growth: float, error: float) -> int:
    r"""Return how often switching changes the answer while a rising value grows by a factor.

    .. math:: 1 + \left\lfloor \frac{\ln(g (1 + e)/(1 - e))}{\ln(1 + \alpha/2)} \right\rfloor,
              \qquad e = \frac{\alpha}{5},

    at most, with copies within :math:`e`. The answer never falls, for :math:`(1 + e)/(1 - e) < 1 +
    \alpha/2`; each change multiplies it by :math:`1 + \alpha/2` and more; and the last is within
    :math:`e` of a value :math:`g` times that of the first. The bound is reached. *Checked by*
    ``test_the_flips_of_a_rising_value``.
    """
    e = error / 5
    return 1 + floor(log(growth * (1 + e) / (1 - e)) / log(1 + error / 2))


def misra_gries_bytes(error: float) -> int:
    r"""Return :math:`1/\alpha` counters of 16 bytes: no count is off by more than a share alpha."""
    return 16 * ceil(1 / error)


def gk_bytes(error: float, stream: int) -> int:
    r"""Return :math:`\frac{11}{2\alpha}\log_2(2\alpha n)` tuples of 24 bytes (Greenwald-Khanna)."""
    return 24 * ceil(5.5 / error * log2(max(2.0, 2 * error * stream)))


def reservoir_bytes(error: float, beta: float, universe: int) -> int:
    r"""Return :math:`2(\ln N + \ln(2/\delta))/\alpha^2` items of 8 bytes (Ben-Eliezer, Yogev 2020).

    Right, but for :math:`\delta`, after a stream that reacts to the sample; :math:`N` thresholds.
    """
    return 8 * ceil(2 * (log(universe) + log(2 / beta)) / error**2)


# ---- The choices that `advise` compares, with their memory and standing --------------------------
#
# A standing is *proved* (a theorem), *survived attacks* (those of `sourdine.adaptive.attacks`, and
# no theorem), or *broken* (one of them succeeds).


PROVED, SURVIVED, BROKEN = "proved", "survived attacks", "broken"
WRONG = 0.01
WINDOW = 12
"""Cells to each side of a window, as `Robust` has them."""

STEADY = 2
"""Looks for each answer where the value only grows: few of its answers need a third one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """The numbers that a memory is computed for."""

    steps: int
    universe: int
    error: float
    beta: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """One algorithm: its memory in bytes, its standing, and why."""

    name: str
    memory: int
    standing: str
    note: str

    @property
    def proved(self) -> bool:
        return self.standing == PROVED


def _table(need: Need, note: str = "no randomness, nothing to find out") -> Candidate:
    return Candidate("exact table", table_bytes(need.universe), PROVED, note)


def _looks(leap: float, factor: float) -> int:
    """Return the looks of an answer whose value may have leapt from one end to the other."""
    return max(STEADY, 2 + ceil(log(leap) / log(factor)))


def _median(
    need: Need, one: Callable[[float, float], int], what: str, leap: float = 1
) -> Candidate:
    """Return the private median with as many copies as its proof needs."""
    looks = _looks(leap, (1 + need.error / 4) ** WINDOW)
    copies = copies_needed(looks * need.steps, wrong=WRONG, beta=need.beta, method="exponential")
    memory = copies * one(0.75 * need.error, WRONG)
    note = f"Robust, dp-median: {shown(copies, 1)} copies, {looks} looks for each answer"
    return Candidate(f"private median of {what}", memory, PROVED, note)


def _survived(need: Need, answers: int, name: str, memory: int, note: str) -> list[Candidate]:
    """Return a choice that was attacked for ``answers`` answers, where those are enough."""
    return [Candidate(name, memory, SURVIVED, note)] if need.steps <= answers else []


def _distinct(need: Need, model: str) -> list[Candidate]:
    one = hll_bytes(need.error, need.beta / need.steps)
    bitset = Candidate("bitset", bitset_bytes(need.universe), PROVED, "exact")
    if model == "insertions":
        note = "repeated items change nothing, new ones hash afresh: Keyed, with a secret key"
        public = "known hash: 320,000 chosen items read as 20,138"
        keyed = Candidate("keyed HyperLogLog", one, PROVED, note)
        return [bitset, keyed, Candidate("HyperLogLog", one, BROKEN, public)]
    if model == "subset":
        few = 32 * hll_bytes(0.75 * need.error, WRONG)
        survived = "Robust, epsilon0=1.5: 2048 subset queries"
        note = "8192 subset queries: 0.41 to 2.16 of the truth"
        return [
            bitset,
            _median(need, hll_bytes, "salted HyperLogLogs", need.universe),
            *_survived(need, 2048, "32 salted HyperLogLogs", few, survived),
            Candidate("keyed HyperLogLog", one, BROKEN, note),
        ]
    return [_table(need, "HyperLogLog cannot delete; nothing smaller is promised here")]


def _heavy_hitters(need: Need, model: str) -> list[Candidate]:
    counters = misra_gries_bytes(need.error)
    note = "as many adaptive queries as counters"
    sketch = Candidate("CountSketch", 8 * counters, BROKEN, note)
    if model != "insertions":
        return [_table(need, "nothing smaller is promised here"), sketch]
    note = "deterministic; Space-Saving likewise"
    return [_table(need), Candidate("Misra-Gries", counters, PROVED, note), sketch]


def _quantiles(need: Need, model: str) -> list[Candidate]:
    if model != "insertions":
        return [_table(need, "nothing smaller is promised here")]
    gk = gk_bytes(need.error, need.steps)
    sample = reservoir_bytes(need.error, need.beta / need.steps, need.universe)
    return [
        _table(need),
        Candidate("Greenwald-Khanna", gk, PROVED, "deterministic"),
        Candidate("reservoir sample", sample, PROVED, "even if the sample is in sight"),
    ]


def _f2(need: Need, model: str) -> list[Candidate]:
    from sourdine.adaptive.sketches.f2 import survived_answers

    rising = model == "insertions"
    largest = float(max(need.steps, need.universe)) ** 2
    leap, plain = 1 if rising else largest, ams_bytes(need.error, need.beta)
    found = [_table(need), *_noisy_rows(need, leap), _median(need, ams_bytes, "AMS sketches", leap)]
    if need.error >= 0.25:  # what was attacked at an error of 0.25
        answers = survived_answers(width=20_000, noise=0.06, error=0.25)
        noisy = f"RobustF2(), noisy rows: {shown(answers, 1)} answers"
        copies = "Robust, sample=25, epsilon0=2: 30,000 probes"
        found += _survived(need, answers, "RobustF2", 8 * 20_000, noisy)
        found += _survived(need, 30_000, "200 AMS of 200 rows", 8 * 40_000, copies)
    if rising:
        flips = flips_needed(largest, need.error)
        switched = flips * ams_bytes(need.error / 5, need.beta / (flips * need.steps))
        note = f"Robust, switching: {shown(flips, 1)} copies, F2 only grows"
        broken = f"{shown(12 * plain // 16, 1)} insertions, six for each row"
    else:
        switched = need.steps * ams_bytes(need.error / 4, need.beta / need.steps**2)
        note = f"Robust, switching: {shown(need.steps, 1)} copies"
        broken = f"{shown(plain // 16, 1)} probes, half as many as rows"
    found.append(Candidate("plain AMS", plain, BROKEN, f"{broken}: 0.4 of the truth"))
    return [*found, Candidate("switching", switched, PROVED, note)]


def _noisy_rows(need: Need, leap: float) -> list[Candidate]:
    """Return `RobustF2` with as many rows as its proof needs, where it has one."""
    from sourdine.adaptive.sketches.f2 import width_to_prove

    alpha, looks = min(need.error, 0.25), _looks(leap, 4)
    try:
        rows = width_to_prove(looks * need.steps, noise=0.052 * alpha, error=alpha, beta=need.beta)
    except ParameterError:
        return []
    note = f"RobustF2({rows:_}, noise={0.052 * alpha:.3g}), {looks} looks for each answer"
    return [Candidate("RobustF2, many rows", 8 * rows, PROVED, note)]


def _lipschitz(need: Need, _model: str) -> list[Candidate]:
    whole, sampled = table_bytes(need.universe), "private median of 24 samples"
    lazy = Candidate("lazy exact", whole, PROVED, "Lazy: deterministic, and recomputes least")
    return [lazy, *_survived(need, 80, sampled, 6 * whole, "and slower than exact")]


def _any_element(need: Need, model: str) -> list[Candidate]:
    bits = bitset_bytes(need.universe)
    if model == "insertions":
        first = Candidate("the first item", 8, PROVED, "it is never deleted")
        return [first, Candidate("bitset", bits, PROVED, "all of them")]
    note = "linear memory is necessary: 0.85 bits for each item there can be"
    sampler = "delete what it names: 23 times do"
    return [
        Candidate("bitset", bits, PROVED, note),
        Candidate("l0-sampler 2 x 8", 8 * 624, BROKEN, sampler),
    ]


CHOICES: dict[str, Callable[[Need, str], list[Candidate]]] = {
    "distinct": _distinct,
    "heavy hitters": _heavy_hitters,
    "quantiles": _quantiles,
    "f2": _f2,
    "lipschitz": _lipschitz,
    "any element": _any_element,
}
"""For each task the choices in a model; a task without the model of subsets takes deletions."""


# ---- Which algorithm to take when updates depend on answers: the cheapest that is proved ---------


STEPS = 100_000
UNIVERSE = 100_000_000
MODELS = {
    "insertions": ("insertions", "insertion", "insertion only", "insertions only"),
    "subset": ("subset", "subsets", "merge", "merges"),
    "turnstile": ("turnstile", "deletion", "deletions"),
}
"""Each model, and what may be typed for it."""

NAMES = ("insertions", "subset", "merge", "turnstile")
"""What is offered to type."""


@dataclass(frozen=True, slots=True)
class Advice(Displayable):
    """The choices for a task, cheapest first, and the one to take.

    ``need`` holds the numbers that the memory of the choices was computed for.
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
        need = self.need
        asked = (
            f"{self.task}, {self.model}: {shown(need.steps, 1)} adaptive steps, "
            f"{shown(need.universe, 1)} items, error {need.error:g}, confidence {1 - need.beta:g}"
        )
        return Sheet(heads=heads, lines=rows, title=asked)


def advise(
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
        :math:`T`, the answers that somebody sees; 100,000 if left out. Where a proof counts looks,
        two are allowed for each.
    universe
        :math:`N`, how many items there can be; 100,000,000 if left out.
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
    any element, turnstile: 100,000 adaptive steps, 4096 items, error 0.25, confidence 0.95
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
    choices = sorted(CHOICES[name](need, kind), key=lambda choice: choice.memory)
    return Advice(name, kind, need, tuple(choices))


def size(memory: int) -> str:
    """Return bytes as a person reads them."""
    amount = float(memory)
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if amount < 999.5 or unit == "TB":
            break
        amount /= 1000
    digits = 0 if unit == "B" or amount >= 9.95 else 1
    return f"{amount:.{digits}f}".removesuffix(".0") + f" {unit}"


def _read_task(task: object) -> str:
    known = sorted(CHOICES)
    if not isinstance(task, str):
        hint = "Use {task}, or another name."
        raise ParameterTypeError("task", "be a name", kind(task), hint, task=known[0])
    name = _spaced(task)
    if name not in known:
        must = f"be one of {', '.join(map(repr, known))}"
        hint = "Use {task} for any value that an update changes by a bounded amount."
        raise ParameterError("task", must, given(task), hint, task="lipschitz")
    return name


def _read_model(model: object) -> str:
    if not isinstance(model, str):
        hint = "Use {model}, or another name."
        raise ParameterTypeError("model", "be a name", kind(model), hint, model=NAMES[0])
    found = next((known for known, typed in MODELS.items() if _spaced(model) in typed), None)
    if found is None:
        must = f"be one of {', '.join(map(repr, NAMES))}"
        hint = "Use {model} if items can be deleted."
        raise ParameterError("model", must, given(model), hint, model="turnstile")
    return found


def _spaced(name: str) -> str:
    return name.strip().lower().replace("-", " ").replace("_", " ")
