"""Public calls answer what they answered before: floats to 1e-9, all else exactly."""

from __future__ import annotations

import difflib
import json
import math
import os
from pathlib import Path

import pytest

import golden_recording as recording

HERE = Path(__file__).parent

EXACT = os.environ.get("SOURDINE_GOLDEN") == "exact"
"""Compare floats bit for bit, too: they are the same on the machine that recorded them only, as
logarithms differ between platforms in the last digit."""


def differences(now, before, where=""):
    """Yield the places where two JSON values differ."""
    if isinstance(now, dict) and isinstance(before, dict) and now.keys() == before.keys():
        for key in now:
            if key not in recording.PROSE:  # the sentences of a release within another
                yield from differences(now[key], before[key], f"{where}.{key}")
    elif isinstance(now, list) and isinstance(before, list) and len(now) == len(before):
        for i, (x, y) in enumerate(zip(now, before, strict=True)):
            yield from differences(x, y, f"{where}[{i}]")
    elif isinstance(now, float) and isinstance(before, float) and not EXACT:
        if not math.isclose(now, before, rel_tol=1e-9, abs_tol=1e-12):
            yield f"{where}: {before} became {now}"
    elif now != before:
        yield f"{where}: {str(before)[:80]} became {str(now)[:80]}"


@pytest.mark.slow
@pytest.mark.parametrize("family", recording.FAMILIES)
def test_numbers_are_those_recorded(family):
    before = json.loads((HERE / "numbers" / f"{family}.json").read_text())
    now = recording.recorded(family)
    assert list(now) == list(before)
    assert [
        f"{name}{where}" for name in now for where in differences(now[name], before[name])
    ] == []


def test_a_changed_number_is_noticed():
    before = json.loads((HERE / "numbers" / "statistics.json").read_text())
    changed = json.loads(json.dumps(before))
    first = next(iter(changed))
    changed[first]["value"] += 1
    assert list(differences(changed, before)) == [
        f".{first}.value: {before[first]['value']} became {changed[first]['value']}"
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", recording.TEXTS)
def test_texts_are_those_recorded(name):
    before = (HERE / "texts" / f"{name}.txt").read_text().splitlines()
    now = recording.joined(recording.TEXTS[name]()).splitlines()
    assert list(difflib.unified_diff(before, now, "recorded", "now", n=0)) == []
