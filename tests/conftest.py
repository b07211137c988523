"""Properties are drawn the same way in every run, however slow the machine."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("sourdine", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("sourdine")


def pytest_terminal_summary(terminalreporter):
    """Say in red what was not tested because a program is missing."""
    skipped = {str(report.longrepr[2]) for report in terminalreporter.stats.get("skipped", ())}
    for reason in sorted(reason for reason in skipped if "NOT TESTED" in reason):
        terminalreporter.write_line(reason.removeprefix("Skipped: "), red=True, bold=True)
