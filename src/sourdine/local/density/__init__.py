"""Densities from values that nobody ever held in the clear."""

from sourdine.local.density.auto import best_protocol
from sourdine.local.density.bins import Bins
from sourdine.local.density.call import density, protocol
from sourdine.local.density.dubois import Dubois
from sourdine.local.density.one_bit import OneBit, SignedLevel
from sourdine.local.density.protocol import DensityProtocol
from sourdine.local.density.result import Density
from sourdine.local.density.wave import Wave

__all__ = [
    "Bins",
    "Density",
    "DensityProtocol",
    "Dubois",
    "OneBit",
    "SignedLevel",
    "Wave",
    "best_protocol",
    "density",
    "protocol",
]
