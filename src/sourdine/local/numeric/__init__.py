"""Randomisers of a number: one tick of a public grid, as a report that betrays little of it.

Bounded Laplace and the bounded staircase, which report ticks, are in `sourdine.mechanisms`.
"""
