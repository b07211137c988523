"""The command line: faces of the library, with no mathematics of their own."""

from sourdine.cli.app import main

__all__ = ["main"]
