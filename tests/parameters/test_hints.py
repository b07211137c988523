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
from sourdine.questions import STATISTICS


def refusal(ask):
    try:
        ask()
    except SourdineError as error:
        return error
    return None


def require_progress(mistake, error, again):
    """Something else is wrong now, or nothing."""
    assert getattr(again, "name", None) != error.name, (str(mistake), str(error), str(again))


@pytest.mark.slow_cases(len(STATISTICS))
def test_hints_work_in_python(mistakes, interfaces):
    function, obeyed = interfaces[0], 0
    for mistake in mistakes:
        error = function(mistake)
        if error.tries:
            obeyed += 1
            require_progress(mistake, error, function(mistake.with_(**error.tries)))
    assert obeyed > len(mistakes) / 2


@pytest.mark.slow_cases(len(STATISTICS))
def test_hints_work_in_json(mistakes):
    obeyed = 0
    for mistake in mistakes:
        if mistake.json is None:
            continue
        error = refusal(lambda: sd.questions.read(mistake.json))  # noqa: B023 - called at once
        typed = {**mistake.json, **error.to_dict()["tries"]}
        said = {name: x for name, x in typed.items() if x is not None}
        if error.tries:
            obeyed += 1
            require_progress(mistake, error, refusal(lambda: sd.questions.read(said)))  # noqa: B023
    assert obeyed > len(mistakes) / 3


@pytest.mark.slow_cases(len(STATISTICS) // 2)
def test_hints_work_in_the_shell(mistakes, shell, wording):
    obeyed = 0
    for mistake in mistakes:
        words, own = mistake.words, wording[mistake.name]
        if words is None or not mistake.options <= own.names:
            continue
        error = refusal(lambda: shell(mistake.name, words))  # noqa: B023 - called at once
        for name, value in error.tries.items():
            words = _without(words, f"--{name.replace('_', '-')}")
            if name == "statement":  # an argument, which replaces the one that was refused
                words = [word for word in words if word != mistake.typed["statement"]]
            if value is not LEFT_OUT:
                typed = own.typed(name, value)
                assert typed in str(error) or f"{{{name}}}" not in error.hint
                words += shlex.split(typed)
        if error.tries:
            obeyed += 1
            again = refusal(lambda: shell(mistake.name, words))  # noqa: B023
            require_progress(mistake, error, again)
    assert obeyed > len(mistakes) / 3


def _without(words, option):
    """Return the words without an option and its values, each time that it is typed."""
    if option not in words:
        return words
    i = words.index(option)
    rest = words[i + 1 :]
    after = next((k for k, word in enumerate(rest) if re.match("--[a-z]", word)), len(rest))
    return _without(words[:i] + rest[after:], option)
