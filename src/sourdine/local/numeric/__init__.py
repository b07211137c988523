"""Randomisers of a number: one tick of a public grid, as a report that betrays little of it.

Bounded Laplace and the bounded staircase, which report ticks, are in `sourdine.mechanisms`.
"""

from sourdine.local.numeric.duchi import Duchi
from sourdine.local.numeric.hybrid import HybridReport
from sourdine.local.numeric.sliding import SlidingWindow, piecewise, square_wave
from sourdine.local.numeric.unbiased import UnbiasedReport

__all__ = ["Duchi", "HybridReport", "SlidingWindow", "UnbiasedReport", "piecewise", "square_wave"]
