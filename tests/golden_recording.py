"""Record what public calls answer when every random byte is fixed.

Statistics, plans and mechanisms are found from their registries, local columns from the lists of
methods; calls of the accountants, guards, sketches and sessions are listed here by hand.
No refactoring changes the numbers under ``golden/numbers``. The texts under ``golden/texts`` change
on purpose, in commits of their own. ``python tests/golden_recording.py`` writes both anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import re
import sys
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import sourdine as sd
from sourdine.local.table.columns import CATEGORICAL, NUMERIC
from sourdine.noise.laplace import LaplaceBits
from sourdine.noise.source import ReadAhead
from sourdine.questions import STATISTICS
from typed_questions import BASE, FIXED, FOUND, GROUPS, UNKNOWN, Asked
from typed_questions import QUESTIONS as TYPED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

QUESTIONS = [asked for asked in TYPED if "lookup" not in asked.typed]
"""Without those that name a file, whose path differs between machines."""
GOLDEN = Path(__file__).with_name("golden")
N = 600
_LENGTH = np.random.default_rng(20).integers(0, 12, N)
DATA: dict[str, Any] = {
    "age": [int(x) for x in np.random.default_rng(17).integers(18, 95, N)],
    "region": [("f", "m", "x")[i] for i in np.random.default_rng(18).integers(0, 3, N)],
    "patient": [int(x) for x in np.random.default_rng(19).integers(0, 300, N)],
    "day": [f"202{m % 5}-{1 + m:02}-1{m % 10}" for m in _LENGTH],
}


@contextlib.contextmanager
def fixed_randomness(name: str) -> Iterator[None]:
    """Give every sampler the bytes of a stream that depends on a name alone.

    The patched class is that of the operating system's source, so a release says what it costs as
    it does for users, and calls that take no ``source`` are recorded too. Nothing is drawn ahead:
    what one call leaves would be the next one's.
    """
    cls = type(sd.noise.SYSTEM)
    real, ahead = cls.bytes, LaplaceBits._next
    seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")
    stream = sd.noise.SeededSource(seed)
    cls.bytes = lambda _, count, /: stream.bytes(count)  # type: ignore[method-assign]
    block, ReadAhead.BLOCK = ReadAhead.BLOCK, 0
    LaplaceBits._next = lambda bits: bits.word(sd.noise.SYSTEM)  # type: ignore[method-assign]
    try:
        yield
    finally:
        cls.bytes = real  # type: ignore[method-assign]
        ReadAhead.BLOCK = block
        LaplaceBits._next = ahead  # type: ignore[method-assign]


# ---- what is recorded of an answer ---------------------------------------------------------------

PROSE = ("mechanism", "caveats")
"""What a release says in sentences; these are recorded as texts."""


MOST = 200
"""Of longer lists every k-th entry is recorded."""


def plain(x: Any) -> Any:
    """Return numbers, texts, lists and dicts for anything that is recorded."""
    if isinstance(x, np.ndarray):
        return plain(x.tolist())
    if isinstance(x, (np.generic, Fraction)):
        return x.item() if isinstance(x, np.generic) else str(x)
    if isinstance(x, dict):
        return {str(k): plain(v) for k, v in x.items()}
    if isinstance(x, (list, tuple)):
        return [plain(v) for v in x[:: 1 + len(x) // MOST]]
    return x if x is None or isinstance(x, (int, float, str)) else str(x)


def of_release(release: Any) -> dict[str, Any]:
    """Return the numbers of a release: everything but its sentences, and its interval."""
    told = {k: v for k, v in release.to_dict().items() if k not in PROSE}
    with contextlib.suppress(sd.SourdineError):
        told["interval"] = release.interval(0.9)
    return plain(told)


# ---- families ------------------------------------------------------------------------------------


def questions() -> list[Asked]:
    """Return good questions of every registered statistic, for all relations and groupings."""
    table = list(QUESTIONS)
    for name, relation, grouped, found in itertools.product(
        STATISTICS, ({}, FIXED), ({}, GROUPS, {**FOUND, "by": "region"}), (False, True)
    ):
        base = Asked(name, BASE[name])
        if found and isinstance(BASE[name].get("bounds"), tuple):
            base = base.with_(bounds="find")
        table.append(base.with_(**relation, **grouped))
    table += [Asked("histogram", BASE["histogram"]).with_(**UNKNOWN, **r) for r in ({}, FIXED)]
    return list({str(asked): asked for asked in table}.values())


def statistics() -> dict[str, Callable[[], Any]]:
    """One call of every question."""

    def call(asked: Asked) -> Any:
        return of_release(getattr(sd, asked.name)(DATA, **asked.typed))

    return {str(asked): lambda asked=asked: call(asked) for asked in questions()}


def described() -> dict[str, Callable[[], Any]]:
    """Descriptions of tables, sessions, and what is read off other answers."""
    bounds: dict[str, Any] = {"bounds": (0, 120), "step": 1}

    def session() -> Any:
        s = sd.Session(DATA, epsilon=4, delta=1e-5, unit="patient", rows=3)
        told = [
            s.count(epsilon=1),
            s.mean(column="age", **bounds, epsilon=1),
            s.median(column="age", **bounds, epsilon=1),
            s.histogram(column="region", categories="unknown", epsilon=0.5, delta=1e-8),
        ]
        history = [json.loads(charge.parameters) for charge in s.history]
        return {"answers": [of_release(r) for r in told], "history": history}

    def cdf() -> Any:
        found = sd.cdf(DATA, column="age", **bounds, epsilon=1)
        return [of_release(x) for x in (found.quantile([0.1, 0.5]), found.probability(20, 30))]

    calls: dict[str, Callable[[], Any]] = {
        "describe(age, region)": lambda: of_release(
            sd.describe(DATA, columns=["age", "region"], epsilon=4, delta=1e-6)
        ),
        "describe(all, unit=patient)": lambda: of_release(
            sd.describe(DATA, epsilon=8, delta=1e-6, unit="patient", rows=4)
        ),
        "session": session,
        "cdf.quantile, cdf.probability": cdf,
        "difference": lambda: of_release(
            sd.mean(
                DATA, column="age", by="region", keys=["f", "m"], population=True, epsilon=2,
                **bounds,
            ).difference("f", "m")
        ),
    }  # fmt: skip
    return calls


def plans() -> dict[str, Callable[[], Any]]:
    """The plan of every question."""

    def call(asked: Asked) -> Any:
        return plain(getattr(sd.plan, asked.name)(**asked.typed).to_dict())

    return {str(asked): lambda asked=asked: call(asked) for asked in questions()}


def _typed(x: Any) -> Any:
    """Return an answer as a page reads it."""
    if isinstance(x, bool):
        return str(x).lower()
    return x.split(";") if isinstance(x, str) and ";" in x else str(x)


def local() -> dict[str, Callable[[], Any]]:  # noqa: C901 - small calls
    """Every method of every kind of column: records, estimates; rounds, reports, and pairs."""
    import survey_device as device
    from sourdine.local import Aggregator, Choice, Choices, Flag, Number, Schema
    from sourdine.local.reports.records import to_lines
    from sourdine.survey.form import form_for_device

    ways = ("foot", "bus", "car", "train")
    columns: dict[str, Any] = {}
    for missing in (False, True):
        for method in (None, *CATEGORICAL):
            columns[f"Choice {method} {missing}"] = Choice(*ways, method=method, missing=missing)
        for method in (None, *NUMERIC[:-1]):  # the last came later, see below
            columns[f"Number {method} {missing}"] = Number(0, 50, 1, method=method, missing=missing)
        columns[f"Flag {missing}"] = Flag(missing=missing)
    columns["Choices"] = Choices(*ways[:3])
    rng = np.random.default_rng(23)
    size = 400

    def answers(kind: str) -> list[Any]:
        if kind == "Choices":
            return [";".join(w for w in ways[:3] if rng.random() < 0.4) for _ in range(size)]
        if kind == "Flag":
            return [bool(x) for x in rng.integers(0, 2, size)]
        if kind == "Number":
            return [int(x) for x in rng.integers(0, 51, size)]
        return [ways[i] for i in rng.integers(0, 4, size)]

    def one(name: str, column: Any) -> Any:
        schema = Schema(x=column, epsilon=2, missing="random")
        said = answers(name.split(maxsplit=1)[0])
        clean = None  # some methods write reports only
        with contextlib.suppress(sd.SourdineError):
            clean = schema.sanitize({"x": said})
        counted = Aggregator(schema)
        lines = [line for part in schema.reports({"x": said}) for line in to_lines(part)]
        counted.add(lines)
        told: dict[str, Any] = {"lines": lines[:20]}
        told["of reports"] = of_release(counted.estimate()["x"])
        with contextlib.suppress(sd.SourdineError):  # not every method runs in a browser
            form = form_for_device(Schema(x=column, epsilon=2))
            told["device"] = [
                json.loads(device.record(form, {"x": _typed(x)}))["a"] for x in said[:10]
            ]
        if clean is not None:
            told["table"] = plain(clean["x"][:20])
            told["of table"] = of_release(schema.estimate(clean)["x"])
        return told

    def several(method: str) -> Any:
        schema = Schema(
            a=Number(0, 50, 1), b=Choice(*ways), c=Flag(), epsilon=6, method=method,
            missing="random",
        )  # fmt: skip
        said = {"a": answers("Number"), "b": answers("Choice"), "c": answers("Flag")}
        clean = schema.sanitize(said)
        found = schema.estimate(clean, pairs=[("a", "b")] if method == "split" else ())
        told = {"table": {k: plain(v[:20]) for k, v in clean.items()}}
        told["estimates"] = {name: of_release(found[name]) for name in ("a", "b", "c")}
        if method == "split":
            told["pair"] = of_release(found.pair("a", "b", bins=2))
            told["within"] = of_release(found.within("a", "b", bins=2))
        return told

    def density(method: str) -> Any:
        values = np.random.default_rng(29).normal(50, 10, 3000)
        return plain(sd.local.density(values, bounds=(0, 100), epsilon=2, method=method).to_dict())

    calls = {name: lambda n=name, c=column: one(n, c) for name, column in columns.items()}
    calls |= {f"table by {m}": lambda m=m: several(m) for m in ("split", "sample")}
    for method in ("auto", "shrinkage", "histogram", "square-wave", "one-bit", "dubois", "design"):
        calls[f"density by {method}"] = lambda m=method: density(m)
    for missing in (False, True):
        calls[f"Number design {missing}"] = lambda m=missing: one(
            "Number", Number(0, 50, 1, method="design", missing=m)
        )
    return calls


def mechanisms() -> dict[str, Callable[[], Any]]:
    """Every specimen of the audit: its claim, its law and draws for each input, its error."""

    def one(specimen: Any) -> Any:
        made = specimen.make(specimen.epsilon)
        told: dict[str, Any] = {"guarantee": str(made.guarantee)}
        for x in list(specimen.inputs)[:3]:
            drawn = made.simulate(x, 5)
            chances = made.law(made.read(x)).pmf(drawn)
            told[str(x)] = {"value": str(made.release(x).value), "drawn": drawn, "chances": chances}
        return plain(told)

    return {s.name: lambda s=s: one(s) for s in sd.audit.registered()}


def adaptive() -> dict[str, Callable[[], Any]]:  # noqa: C901 - small calls
    """Transcripts of guards, ledgers, query servers, robust algorithms and sketches."""
    from sourdine.adaptive import (
        AmsSketch,
        GuardedHoldout,
        Leaderboard,
        QueryServer,
        Robust,
        RobustF2,
        TranscriptLedger,
        advise,
        privacy_to_validity,
    )

    rng = np.random.default_rng(31)
    labels = rng.integers(0, 2, 2000)
    tries = [np.where(rng.random(2000) < p, labels, 1 - labels) for p in (0.5, 0.6, 0.7, 0.72, 0.9)]

    def guard() -> Any:
        held = GuardedHoldout(labels, error=0.1)
        return plain([held.score(t).to_dict() for t in tries]), held.remaining and str(
            held.remaining
        )

    def board() -> Any:
        board = Leaderboard(GuardedHoldout(labels))
        for i, predictions in enumerate(tries):
            board.submit(f"team {i}", predictions)
        return plain(board.to_dict())

    def ledger() -> Any:
        book = TranscriptLedger(5000, error=0.05)
        for levels in (2, 16, 100):
            book.charge_value(levels)
            book.charge_bit(levels > 10)
        return [book.halfwidth(), book.bits, book.interval(0.3, 2)]

    def server() -> Any:
        answers = QueryServer(rng.integers(0, 4, 3000), universe=4, error=0.1)
        asked = [lambda code, i=i: code <= i for i in (0, 1, 2, 0)]
        return plain([answers.ask(q).to_dict() for q in asked])

    def robust() -> Any:
        made = Robust(
            lambda seed: AmsSketch(64, seed), copies=200, sample=50, epsilon0=2, steps=60, start=1
        )
        told = []
        for i in range(50):
            made.update(i % 7)
            told.append(float(made.query()))
        return told

    def f2() -> Any:
        sketch = RobustF2(width=2000)
        told = []
        for i in range(200):
            sketch.update(i % 50, 1)
            if i % 20 == 0:
                told.append(plain(sketch.query()))
        return told

    return {
        "guard": guard, "leaderboard": board, "ledger": ledger, "server": server,
        "robust": robust, "f2": f2,
        "advise": lambda: advise("any element", "turnstile", universe=4096).best.name,
        "validity": lambda: [privacy_to_validity(e, 10_000) for e in (0.01, 0.1)],
    }  # fmt: skip


def accounting() -> dict[str, Callable[[], Any]]:
    """Composed guarantees, amplification, and curves of losses."""
    p, part = sd.privacy, sd.privacy.Part
    pure, fixed = p.Guarantee(1), p.Guarantee(Fraction(1, 2), 1e-6, sd.SUBSTITUTE)

    def ends(*parts: Any) -> Any:
        whole = p.accounting.compose(parts)
        found = [whole.epsilon(1e-6), whole.delta(1)]
        return [[float(x.lower), float(x.upper)] for x in found]

    def admitted() -> Any:
        kept, count = p.accounting.Filter.of(epsilon=3, delta=1e-6), 0
        while kept.admits(part.range(0.06)):
            kept, count = kept.charge(part.range(0.06)), count + 1
        return count, kept.to_dict()

    return {
        "laplace": lambda: ends(part.laplace(shift=1, scale=10, times=100)),
        "pure and range": lambda: ends(part.pure(0.002, times=100), part.range(0.098, times=100)),
        "gaussian": lambda: ends(part.gaussian(3, 20, times=10)),
        "sampled": lambda: ends(part.sampled(part.laplace(1, 10), 0.5)),
        "filter": admitted,
        "compose": lambda: str(p.compose(pure, pure)),
        "parallel": lambda: str(p.parallel(pure, pure)),
        "advanced": lambda: str(p.compose_advanced(p.Guarantee(0.1), 50, 1e-6).epsilon),
        "group": lambda: str(p.group(fixed, 3).epsilon),
        "poisson": lambda: str(p.poisson(pure, 0.1).epsilon),
        "without replacement": lambda: str(
            p.composition.without_replacement(fixed, 10, 100).epsilon
        ),
        "concentrated": lambda: str(p.Concentrated(Fraction(1, 8)).at(1e-6).epsilon),
        "shuffled": lambda: str(
            sd.local.shuffled(p.Guarantee(1, relation="local"), 10_000, delta=1e-6)
        ),
    }


FAMILIES: dict[str, Callable[[], dict[str, Callable[[], Any]]]] = {
    family.__name__: family
    for family in (statistics, described, plans, local, mechanisms, adaptive, accounting)
}


def recorded(family: str) -> dict[str, Any]:
    """Run all calls of a family, each with bytes of its own; errors are recorded by their class."""
    told = {}
    for name, call in FAMILIES[family]().items():
        with fixed_randomness(name):
            try:
                told[name] = call()
            except sd.SourdineError as error:
                told[name] = {"error": error.name}
    return json.loads(json.dumps(told))


# ---- texts ---------------------------------------------------------------------------------------


def printed() -> dict[str, str]:
    """Return an answer of each kind, a session and a plan as they print."""
    from every_kind import ALL, estimates

    told = {}
    for name, call in ALL.items():
        estimates.cache_clear()
        with fixed_randomness(name):
            told[name] = str(call())
    with fixed_randomness("session"):
        s = sd.Session(DATA, epsilon=2, delta=1e-6)
        s.count(epsilon=1)
        told["session"] = re.sub(r"20\d\d-\S+", "(time)", str(s))
    told["plan"] = str(sd.plan.mean(bounds=(0, 120), n=1000, epsilon=1))
    return told


def helps() -> dict[str, str]:
    """Return the help of every command."""
    from typer.main import get_command
    from typer.testing import CliRunner

    from sourdine.cli.app import app, narrowed

    def commands(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
        yield words
        for name, below in getattr(command, "commands", {}).items():
            yield from commands(below, (*words, name))

    runner, told = CliRunner(), {}
    for words in commands(get_command(app)):
        typed = [*words, "--help"]
        env = {"COLUMNS": "100", "TERM": "dumb"}
        made = runner.invoke(narrowed(app, typed), typed, env=env)
        told[" ".join(("sourdine", *words))] = made.output
    return told


def openapi() -> dict[str, str]:
    """Return the description of the HTTP interface."""
    from sourdine.server.app import API
    from sourdine.server.openapi import document

    return {"document": json.dumps(document(API), indent=1)}


TEXTS: dict[str, Callable[[], dict[str, str]]] = {
    "printed": printed,
    "help": helps,
    "openapi": openapi,
}


def main() -> None:
    """Write everything anew, or the families that are named."""
    (GOLDEN / "numbers").mkdir(exist_ok=True)
    for family in sys.argv[1:] or FAMILIES:
        if family == "texts":
            continue
        told = recorded(family)
        lines = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in told.items())
        (GOLDEN / "numbers" / f"{family}.json").write_text("{\n" + lines + "\n}\n")
        print(family, len(told))  # noqa: T201
    if "texts" in (sys.argv[1:] or ["texts"]):
        (GOLDEN / "texts").mkdir(exist_ok=True)
        for name, parts in TEXTS.items():
            (GOLDEN / "texts" / f"{name}.txt").write_text(joined(parts()))


def joined(parts: dict[str, str]) -> str:
    """Return texts under their headings."""
    return "\n".join(f"##### {name}\n{text.rstrip()}\n" for name, text in parts.items())


if __name__ == "__main__":
    main()
