"""Whoever asks: in good faith, by chance, or to mislead."""

from sourdine.adaptive.game.analysts.decoding import Decoding
from sourdine.adaptive.game.analysts.freedman import Freedman, FreedmanResult, freedman
from sourdine.adaptive.game.analysts.hill_climbing import HillClimbing
from sourdine.adaptive.game.analysts.honest import Honest
from sourdine.adaptive.game.analysts.overfitting import Overfitting

__all__ = [
    "Decoding",
    "Freedman",
    "FreedmanResult",
    "HillClimbing",
    "Honest",
    "Overfitting",
    "freedman",
]
