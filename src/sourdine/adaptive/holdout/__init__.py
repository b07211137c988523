"""A guard for evaluation data that people, leaderboards and agents use again and again.

===============  ===================================================================================
``adapters``     the guard where people already search: scikit-learn's scorers and Optuna's
                 callbacks
``guard``        `GuardedHoldout`: evaluation labels that can be asked again and again
``labels``       labels, true or predicted, and whether rows are the same
``leaderboard``  `Leaderboard`: the Ladder on a guard, its steps and its chart
``losses``       losses of predictions, and evidence that a new one is better
``planning``     how wide the answers of a guard or a leaderboard will be, before anything is asked
``store``        where a guard keeps its labels, the predictions that hold, and the leaderboard
===============  ===================================================================================
"""
