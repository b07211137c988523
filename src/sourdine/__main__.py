"""``python -m sourdine``: the command line, where its own name is not on the path."""

from __future__ import annotations

from sourdine.cli import main

if __name__ == "__main__":
    main()
