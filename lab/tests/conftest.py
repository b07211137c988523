"""Properties are drawn the same way in every run, however slow the machine."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("sourdine", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("sourdine")
