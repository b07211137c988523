"""The command line: faces of the library, with no mathematics of their own."""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Run the command line; Ctrl-C while it is still being loaded stops it too."""
    try:
        from sourdine.cli.app import main as run
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    run()
