"""Whoever asks: in good faith, by chance, or to mislead."""

from sourdine_lab.game.analysts.decoding import Decoding
from sourdine_lab.game.analysts.freedman import Freedman, FreedmanResult, freedman
from sourdine_lab.game.analysts.hill_climbing import HillClimbing
from sourdine_lab.game.analysts.honest import Honest
from sourdine_lab.game.analysts.overfitting import Overfitting

__all__ = [
    "Decoding",
    "Freedman",
    "FreedmanResult",
    "HillClimbing",
    "Honest",
    "Overfitting",
    "freedman",
]
