"""Densities from values that nobody ever held in the clear."""

from sourdine.local.densities.auto import best_protocol
from sourdine.local.densities.bin_report import BinReport
from sourdine.local.densities.bins import Bins
from sourdine.local.densities.call import density, protocol
from sourdine.local.densities.coefficients import NoisyCoefficients
from sourdine.local.densities.dubois import Dubois
from sourdine.local.densities.one_bit import OneBit, SignedLevel
from sourdine.local.densities.protocol import DensityProtocol
from sourdine.local.densities.result import Density
from sourdine.local.densities.wave import Wave

__all__ = [
    "BinReport",
    "Bins",
    "Density",
    "DensityProtocol",
    "Dubois",
    "NoisyCoefficients",
    "OneBit",
    "SignedLevel",
    "Wave",
    "best_protocol",
    "density",
    "protocol",
]
