"""The lab: the figures of the documents redrawn, their claims judged.

It stands beside the library and knows it from outside. What the documents print, what is only
compared with, and the games that show why, live here:

=================  ================================================================================
``experiments``    one module a figure: question, parameters, computation, picture
``claims``         one row a claim: what is printed and what stands instead, run by one check
``experiment``     what an experiment is; its parts, each with chance of its own
``settings``       the constants of an experiment, which a person may change
``concordance``    where each statement, figure and algorithm of a document is here
``registry``       finds the experiments; ``runner`` computes them on all cores, resumably
``look``           one palette, one colour a method, lines named at their ends
``page``           one page with figures and claims, that needs no network
``command``        ``sourdine lab``
``bounds``         the documents' theorems on accuracy, as printed and as they hold
``besov``          Besov norms, densities of a ball, and risks over it
``amplification``  what sampling does to a promise: as printed, and as it is
``lecture``        what a lecture says a robust algorithm costs, without constants
``game``           the game of adaptive questions, analysts who play it
``averages``       averages of queries over rows, whatever they hold
``samples``        samples with and without dependence, and those that no answer suits
``answering``      other ways to answer, to compare with, and what is proved of each
``one_from_many``  why naming an element needs memory for all of them
``attacks``        what breaks plain answers and plain samplers
=================  ================================================================================
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sourdine_lab.runner import Run, run

__all__ = ["Run", "run"]


def __getattr__(name: str) -> Any:
    """Load the runner when it is first asked for: every command of ``sourdine`` imports this."""
    if name in __all__:
        return getattr(import_module("sourdine_lab.runner"), name)
    raise AttributeError(f"module 'sourdine_lab' has no attribute {name!r}")
