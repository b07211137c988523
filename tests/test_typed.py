"""Types say what is true: few lines ask not to be checked."""

from __future__ import annotations

from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src"
MOST = 20


def test_few_lines_are_left_unchecked():
    found = [
        f"{path.relative_to(SOURCE)}: {line.strip()}"
        for path in SOURCE.rglob("*.py")
        for line in path.read_text().splitlines()
        if "# type: ignore" in line
    ]
    assert len(found) <= MOST, "\n".join(found)
