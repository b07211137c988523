"""What was asked, to be asked again elsewhere: in Python, and in a shell.

Both ask this server, so they spend of the same total; a token takes the place of the password.
"""

from __future__ import annotations

import json
from shlex import quote
from typing import TYPE_CHECKING, Any

from sourdine.errors import literal

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["as_command", "as_python", "guard_as_command", "guard_as_python"]

OWNERS = ("bounds", "step", "keys", "categories")
"""What the owner of the data may say instead."""


def as_python(url: str, dataset: str, asked: Mapping[str, Any]) -> str:
    """Return a program that asks a server a question.

    Examples
    --------
    >>> print(as_python("http://a", "ages", {"statistic": "mean", "column": "age", "epsilon": 0.1}))
    import sourdine as sd
    <BLANKLINE>
    token = "..."  # made on the page Tokens
    with sd.Remote('http://a', token) as server:
        print(server.session('ages').mean(column='age', epsilon=0.1))
    """
    said = ", ".join(f"{name}={literal(x)}" for name, x in asked.items() if name != "statistic")
    return (
        'import sourdine as sd\n\ntoken = "..."  # made on the page Tokens\n'
        f"with sd.Remote({url!r}, token) as server:\n"
        f"    print(server.session({dataset!r}).{asked['statistic']}({said}))"
    )


def as_command(url: str, dataset: str, asked: Mapping[str, Any]) -> str:
    r"""Return a command that asks a server a question; the key is new with every run.

    Examples
    --------
    >>> print(as_command("http://a", "ages", {"statistic": "count", "epsilon": 0.1}))
    curl http://a/api/v1/datasets/ages/releases \
      -H "Authorization: Bearer $TOKEN" -H "Idempotency-Key: $(uuidgen)" \
      --json '{"statistic": "count", "epsilon": 0.1}'
    """
    address = quote(f"{url}/api/v1/datasets/{dataset}/releases")
    return (
        f'curl {address} \\\n  -H "Authorization: Bearer $TOKEN" '
        f'-H "Idempotency-Key: $(uuidgen)" \\\n'
        f"  --json {quote(json.dumps(asked, ensure_ascii=False))}"
    )


def guard_as_python(url: str, guard: str) -> str:
    """Return a program that submits a file of predictions.

    Examples
    --------
    >>> print(guard_as_python("http://a", "eval"))
    import sourdine as sd
    <BLANKLINE>
    token = "..."  # made on the page Tokens
    with sd.Remote('http://a', token) as server:
        print(server.guard('eval').submit("predictions.csv"))
    """
    return (
        'import sourdine as sd\n\ntoken = "..."  # made on the page Tokens\n'
        f"with sd.Remote({url!r}, token) as server:\n"
        f'    print(server.guard({guard!r}).submit("predictions.csv"))'
    )


def guard_as_command(url: str, guard: str) -> str:
    r"""Return a command that submits a file of predictions; the key is new with every run.

    Examples
    --------
    >>> print(guard_as_command("http://a", "eval"))
    jq -Rs '{predictions: .}' predictions.csv |
      curl http://a/api/v1/guards/eval/submissions --json @- \
      -H "Authorization: Bearer $TOKEN" -H "Idempotency-Key: $(uuidgen)"
    """
    address = quote(f"{url}/api/v1/guards/{guard}/submissions")
    return (
        f"jq -Rs '{{predictions: .}}' predictions.csv |\n  curl {address} --json @- \\\n"
        '  -H "Authorization: Bearer $TOKEN" -H "Idempotency-Key: $(uuidgen)"'
    )
