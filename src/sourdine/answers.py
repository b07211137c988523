"""`Release` as a person imports it: one that reads back what any package has published.

A release is rebuilt by the kind of statistic or estimate that drew it. A kind is known once its
package is loaded, and this loads all of them.

Examples
--------
>>> import sourdine as sd
>>> asked = sd.count(["a", "b"] * 50, epsilon=1)
>>> Release.from_json(asked.to_json()) == asked
True
>>> from sourdine.results.release import Estimator
>>> {"mean", "mean of reports", "frequencies"} <= Estimator.kinds.keys()
True
"""

from __future__ import annotations

import sourdine.central
import sourdine.local  # noqa: F401 - both are loaded for their kinds
from sourdine.results.release import Release

__all__ = ["Release"]
