"""What breaks plain answers and plain samplers, by the game's analysts.

An attack that fails proves nothing. What is proved is what a ``certificate()`` says.
"""

from sourdine_lab.attacks import holdouts, samplers

__all__ = ["holdouts", "samplers"]
