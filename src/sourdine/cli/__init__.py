"""The command line: an interface to the library, with no mathematics of its own.

==============  ====================================================================================
``app``         ``sourdine``: the commands of the shell, and those that plugins add
``audit``       ``sourdine audit``: one row a mechanism
``demo``        ``sourdine demo``: mean, deciles and histogram of real wages under one total epsilon
``guard``       ``sourdine guard``: evaluation data that scripts and agents may ask
``ledger``      ``sourdine ledger`` and ``sourdine disclose``
``options``     every option: how it is typed, parsed and named in errors
``output``      standard streams, progress, tables and charts in a terminal, and ``sourdine plot``
``serve``       ``sourdine serve`` and the commands that fill a store
``statistics``  ``sourdine mean`` and the other statistics, ``plan`` and ``explain``
``survey``      ``sourdine survey``: write, check, open, serve and close a survey
``tables``      ``sourdine inspect``, ``schema``, ``sanitize``, ``estimate``, ``report`` and
                ``collect``
==============  ====================================================================================
"""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Run the command line; Ctrl-C while it is still being loaded stops it too."""
    try:
        from sourdine.cli.app import main as run
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    run()
