"""Small mistakes in the device, each of which the replay, the laws or the refusals must find."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

HERE = Path(__file__).parent

MUTANTS = {
    "an open word counts as below": ("word >= chance.bounds(bits)[0] && word <",
                                     "word > chance.bounds(bits)[0] && word <"),
    "an open word counts as above": ("word < chance.bounds(bits)[1]; bits",
                                     "word < chance.bounds(bits)[1] - 1n; bits"),
    "more bits forget the first": ("word = (word << 64n) | whole(", "word = whole("),
    "bytes are read from the other end": ("bytes.reduceRight(", "bytes.reduce("),
    "a choice beyond the last is kept": ("if (value < BigInt(k))", "if (value <= BigInt(k))"),
    "a remainder instead of another draw": ("if (value < BigInt(k)) return Number(value);",
                                            "return Number(value) % k;"),
    "the series stops early": ("termHi > 2n; i++", "termHi > (1n << (g >> 1n)); i++"),
    "a bound of a difference is the wrong one": ("c < 0n ? [lo + c * most, hi + c * least]",
                                                 "c < 0n ? [lo + c * least, hi + c * most]"),
    "the truth is kept too often": ("[categories(k) - 1, n]]", "[categories(k) - 2, n]]"),
    "an own bit as any other": ("v === x ? !by.coin(miss)", "v === x ? by.coin(miss)"),
    "symmetric rows cost twice": ("share(1, 1, [n, 2n * m])", "share(1, 1, [n, m])"),
    "the first word is never even": ("row = x + 1, word", "row = x, word"),
    "a hash of one digit": ("i < d; i++, a =", "i < 1; i++, a ="),
    "a set without the truth": ("[bit(x), w - 1, k - 1]", "[0, w - 1, k - 1]"),
    "few flips are rare": ("rare = share(many, few,", "rare = share(few, many,"),
    "sets in another order": ("for (let v = k - 1; v >= 0; v--)", "for (let v = 0; v < k; v++)"),
    "the window is not rounded at random": ("(x * S + by.below(m)) / m", "(x * S) / m"),
    "a bit that always lies": ("x !== by.coin(flip)", "x === by.coin(flip)"),
    "the hybrid's coin for its whole epsilon": ("new Chance([[1, n]], [[1, 0]], 2n * m)",
                                                "new Chance([[1, n]], [[1, 0]], m)"),
    "laplace without its ends": ("left, power(-1, last - x + 1)]", "left]"),
    "laplace one tick aside": ("power(-1, y - x + 1)]", "power(-1, y - x)]"),
    "a staircase that leaves the interval": ("Math.max(x - r + 1, 0), others)",
                                             "Math.max(x - r + 1, 0), last)"),
    "near is cut off at one end only": ("Math.min(x + r, size) - first", "x + r - first"),
    "far may be near": ("cell >= first ? width : 0", "cell > first ? width : 0"),
    "an absent answer is the first": ("by.below(value.top + 1) : x)", "0 : x)"),
    "the flag is left out": ("return absent === 1 ? none : report", "return report"),
    "costs are not added": ("[costs.reduce(add)]", "costs"),
    "a paid flag is free": ('c.absent === "paid" ? add(', 'c.absent === "free" ? add('),
    "the level is believed": (".bounds(64)[1] > 1n << 64n", ".bounds(64)[1] > 1n << 65n"),
    "any epsilon will do": ("n > 8n * m", "n > 99n * m"),
    "ticks are cut, not rounded": ("+ scale * a * s, unit", ", unit"),
    "weights are ignored": ("findIndex((weight) => (left -= weight) < 0)",
                            "findIndex(() => (left -= 1) < 0)"),
    "an id of another place": ("held << (6 - bits)", "held"),
}  # fmt: skip


def lies():
    """Return lying forms, and what the device says to each."""
    return list(beside("test_refusals").LIES.values())


def beside(name):
    """Return another file of this folder."""
    spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


@pytest.mark.slow
def test_every_mutant_is_found(node, survey_cases, tmp_path):
    forms, jobs = survey_cases.replays(1200, seed=5)
    source = survey_cases.DEVICE.read_text()
    devices = {str(survey_cases.DEVICE): None}
    for name, (right, wrong) in MUTANTS.items():
        assert source.count(right) == 1, name
        mutant = tmp_path / f"{len(devices)}.mjs"
        mutant.write_text(source.replace(right, wrong))
        devices[str(mutant)] = name
    played = [(form, said, took.hex(), line) for form, said, took, line in jobs]
    given = {"devices": list(devices), "forms": forms, "jobs": played, "lies": lies()}
    chances = list(beside("test_chances").cases())[:20]
    given["chances"] = list(zip(chances, node("chances.mjs", chances), strict=True))
    found = {devices[path]: by for path, by in node("mutants.mjs", given).items()}
    assert found.pop(None) is None, "the true device differs from the reference"
    assert [name for name, by in found.items() if by is None] == []
    assert len(found) >= 12
    assert {by.split(":")[0] for by in found.values()} == {"replay", "refusals", "chances"}
