"""What breaks the plain versions: for tests, for demonstrations, and for your own estimators.

An attack that fails proves nothing. What is proved is what a ``certificate()`` says.
"""

from sourdine.adaptive.attacks import distinct, f2, graphs

__all__ = ["distinct", "f2", "graphs"]
