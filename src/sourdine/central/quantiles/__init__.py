"""Private quantiles: one file an algorithm, and `Quantiles`, which chooses among them.

`methods` lists the algorithms by name. They all draw ticks of a public grid from `points`, the
order statistics, which `reading` and `selection` get out of a frame without sorting it.
"""
