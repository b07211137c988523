"""Private quantiles: one file an algorithm, and `Quantiles`, which chooses among them.

`methods` lists the algorithms by name. They all draw ticks of a public grid from order statistics,
which `points` gets out of a frame without sorting it.

=====================  =============================================================================
``algorithm``          the interface of a quantile algorithm: totals, targets and expected rank
                       errors
``chain``              rank tuples as a Markov chain of masses and two-sided exponential steps
``exponential``        QExp: one quantile by the exponential mechanism over ranks
``independent``        quantiles drawn one by one: IndExp, inverse sensitivity, and RecExp
``intervals``          intervals of quantiles that hold for any data
``joint``              JointExp: all quantiles in one draw, and the sampler of its ranks
``levels``             JointExp in two or three levels, and anchors with published points between
                       them
``methods``            every quantile algorithm by name, the choice among them, and audit specimens
``naive``              two simple baselines: noise of the grid's width, and a noisy histogram
``piecewise_laplace``  the piecewise Laplace mechanism: ranks that rise along a gap instead of
                       standing still
``points``             order statistics of a column, as far as an algorithm needs them
``statistic``          `Quantiles`, `Quantile` and `Median`: the statistics that a person asks for
``tree``               trees of noisy counts and whole distribution functions
=====================  =============================================================================
"""
