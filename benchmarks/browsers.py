"""Simulated browsers: the page's own device, run by Node, against laws and intervals.

python benchmarks/browsers.py laws --people 20000
python benchmarks/browsers.py intervals --surveys 40 --people 20000

``laws``: for every randomiser and three answers the reports of so many browsers against the law,
by a chi-square test. ``intervals``: surveys whose records pass through a collector's store; how
often intervals hold what everybody answered. The exit status is 1 if a claim is missed.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tomllib
from base64 import urlsafe_b64decode
from collections import Counter
from fractions import Fraction
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.audit.exhaustive import p_value
from sourdine.local import Choice, Choices, Flag, Number, Schema
from sourdine.local.reports.sources import form_of
from sourdine.local.table.columns import CATEGORICAL, NUMERIC
from sourdine.survey import Survey
from sourdine.survey.demo import WAYS, WISHES
from sourdine.survey.document import SKELETON
from sourdine.survey.form import form_for_device
from sourdine.survey.results import results
from sourdine.survey.store import Posted, SurveyStore

sys.path.append(str(Path(__file__).parents[1] / "tests"))
import survey_device as device

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sourdine.local.table.columns import Attribute

CONFIDENCE = 0.95
ALPHA = 1e-6
"""Below it, divided by the number of tests, draws do not follow the law."""
MODULE = files("sourdine.survey").joinpath("web", "device.mjs")


def drawn(form: Mapping[str, Any], people: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the record of each person, drawn by the device in Node."""
    node = shutil.which("node")
    if node is None:
        sys.exit("Node was not found: apt-get install nodejs")
    with TemporaryDirectory() as folder:
        path = Path(folder, "form.json")
        path.write_text(json.dumps(form), encoding="utf-8")
        done = subprocess.run(  # noqa: S603 - the device, by its path
            [node, str(MODULE), str(path)],
            input="\n".join(map(json.dumps, people)),
            capture_output=True,
            text=True,
            check=True,
        )
    return done.stdout.split()


def columns() -> Iterator[tuple[str, Attribute]]:
    """Yield a column for every randomiser, with and without absent answers."""
    for method in CATEGORICAL:
        yield f"{method}", Choice(*"abcde", method=method)
        yield f"{method}, absent", Choice(*"abcdefghijklm", method=method, missing="none")
        yield f"{method}, flag", Flag(method=method, missing=True)
    for method in NUMERIC:
        yield f"{method}", Number(-3, 9, 0.5, method=method)
        yield f"{method}, absent", Number(0, 120, 1, method=method, missing=True)
    yield "choices", Choices("tv", "web", "radio", "print")


def laws(people: int) -> bool:
    """Print the p-value of every randomiser and answer; return whether all follow the law."""
    found: dict[tuple[str, str], float] = {}
    for name, column in columns():
        schema = Schema.of({"x": column}, epsilon=1)
        form = form_for_device(schema)
        part, mechanism = form["columns"][0], form_of(schema).randomisers["x"]
        for what, answer in _answers(part).items():
            lines = drawn(form, [{"x": answer}] * people)
            reports = [_number(json.loads(line)["a"][0]) for line in lines]
            code = device.code(part, answer)
            slot = _absent(part) if code is None else code
            found[name, what] = p_value(reports, mechanism.law(slot))
        print(f"{name:20s}", *(f"{w} {found[name, w]:.3g}" for w in _answers(part)), flush=True)
    least = min(found.values())
    print(f"{len(found)} laws, {people} browsers each; the least p-value is {least:.2g}")
    return least > ALPHA / len(found)


def _answers(part: Mapping[str, Any]) -> dict[str, Any]:
    absent = {} if part["absent"] in device.NEEDED else {"absent": None}
    if part["kind"] == "number":
        upper = Fraction(part["lower"]) + part["last"] * Fraction(part["step"])
        return {"first": part["lower"], "last": f"{float(upper):g}", **absent}
    first, last = part["answers"][0], part["answers"][-1]
    several = part["kind"] == "choices"
    return {"first": [first] if several else first, "last": last, **absent}


def _absent(part: Mapping[str, Any]) -> int:
    top = part["last"] if "last" in part else part["k"] - 1
    return {"nothing": 0, "category": top}.get(part["absent"], top + 1)


def _number(report: int | str) -> int:
    if isinstance(report, int):
        return report
    return int.from_bytes(urlsafe_b64decode(report + "=" * (-len(report) % 4)), "little")


def population(n: int, rng: np.random.Generator) -> list[dict[str, Any]]:
    """Return the answers of so many people to the survey of `SKELETON`."""
    ways = rng.choice([*WAYS], n, p=[*WAYS.values()]).tolist()
    minutes = np.minimum(120, rng.gamma(4, 8, n)).round().astype(int).tolist()
    late = rng.random(n) < 0.3
    wishes = rng.random((n, len(WISHES))) < [*WISHES.values()]
    return [
        {
            "way": ways[i],
            "minutes": minutes[i],
            "late": "true" if late[i] else "false",
            "wishes": [wish for wish, ticked in zip(WISHES, wishes[i], strict=True) if ticked],
        }
        for i in range(n)
    ]


def intervals(surveys: int, people: int) -> bool:
    """Print how often intervals hold what everybody answered; return whether as often as stated."""
    rng, held, asked = np.random.default_rng(3), Counter[tuple[str, str]](), Counter[Any]()
    for number in range(surveys):
        method = ("split", "sample")[number % 2]
        survey = Survey.from_facts(tomllib.loads(SKELETON) | {"epsilon": 2, "method": method})
        answers = population(people, rng)
        lines = drawn(form_for_device(survey.schema), answers)
        with TemporaryDirectory() as folder:
            store, _ = SurveyStore.create(Path(folder, "survey.db"), survey)
            store.accept([Posted(lines=[line.encode() for line in lines])])
            store.fold()
            found = results(store)
            store.close()
        for one in found.questions:
            for x, low, high in zip(
                _truth(one.name, one.labels, answers), one.lower, one.upper, strict=True
            ):
                held[one.name, method] += low <= x <= high
                asked[one.name, method] += 1
    good = True
    for key, count in asked.items():
        share, slack = held[key] / count, 3 * np.sqrt(CONFIDENCE * (1 - CONFIDENCE) / count)
        good &= share >= CONFIDENCE - slack
        verdict = "as stated" if share >= CONFIDENCE - slack else "TOO RARELY"
        print(f"{key[0]:8s} {key[1]:6s} {held[key]} of {count} inside ({share:.3f}), {verdict}")
    inside, all_of_them = sum(held.values()), sum(asked.values())
    print(f"{inside} of {all_of_them} intervals hold the truth ({inside / all_of_them:.3f})")
    return bool(good)


def _truth(name: str, labels: Sequence[str], answers: Sequence[Mapping[str, Any]]) -> list[float]:
    given = [one[name] for one in answers]
    if not labels:
        return [float(np.mean(given))]
    ticked = [set(x) if isinstance(x, list) else {x} for x in given]
    return [float(np.mean([label in x for x in ticked])) for label in labels]


def main() -> int:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("what", choices=("laws", "intervals"))
    parser.add_argument("--surveys", type=int, default=40)
    parser.add_argument("--people", type=int, default=20_000)
    asked = parser.parse_args()
    if asked.what == "laws":
        return int(not laws(asked.people))
    return int(not intervals(asked.surveys, asked.people))


if __name__ == "__main__":
    sys.exit(main())
