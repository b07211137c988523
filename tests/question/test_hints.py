"""Every hint works where it is shown: obey it, and the parameter is no longer the trouble.

For each bad question of the table: what the error says to type is typed, in Python, in JSON and,
as the words that the shell shows, in the shell. The question is then accepted, or something else
is wrong.
"""

from __future__ import annotations

import re
import shlex

import pytest

import sourdine as sd
from sourdine.errors import LEFT_OUT, SourdineError


def refusal(ask):
    try:
        ask()
    except SourdineError as error:
        return error
    return None


def test_hints_work_in_python(mistake, faces):
    function = faces[0]
    error = function(mistake)
    if not error.tries:
        pytest.skip("nothing to type")
    again = function(mistake.with_(**error.tries))
    assert getattr(again, "name", None) != error.name, (str(mistake), str(error), str(again))


def test_hints_work_in_json(mistake):
    if mistake.json is None:
        pytest.skip("no JSON")
    error = refusal(lambda: sd.questions.read(mistake.json))
    tries = error.to_dict()["tries"]
    if not tries:
        pytest.skip("nothing to type")
    typed = {name: x for name, x in {**mistake.json, **tries}.items() if x is not None}
    again = refusal(lambda: sd.questions.read(typed))
    assert again is None or again.name != error.name, (str(mistake), str(error), str(again))


def test_hints_work_in_the_shell(mistake, shell, wording):
    words = mistake.words
    if words is None or not mistake.options <= wording[mistake.name].names:
        pytest.skip("cannot be typed")
    error = refusal(lambda: shell(mistake.name, words))
    if not error.tries:
        pytest.skip("nothing to type")
    for name, value in error.tries.items():
        words = _without(words, f"--{name}")
        if value is not LEFT_OUT:
            typed = wording[mistake.name].typed(name, value)
            if f"{{{name}}}" in error.hint:
                assert typed in str(error)
            words += shlex.split(typed)
    again = refusal(lambda: shell(mistake.name, words))
    assert again is None or again.name != error.name, (str(mistake), str(error), str(again))


def _without(words, option):
    """Return the words without an option and its values."""
    if option not in words:
        return words
    i = words.index(option)
    rest = words[i + 1 :]
    after = next((k for k, word in enumerate(rest) if re.match("--[a-z]", word)), len(rest))
    return words[:i] + rest[after:]
