"""Laws: complete distributions on the integers, as evidence for every claim.

===========  =======================================================================================
``compare``  comparison of two laws: divergence, hockey stick, total variation
``law``      `Law`: a distribution on the integers in closed form, and the normal quantiles
``product``  `Product`: the joint law of independent integers
===========  =======================================================================================
"""

from sourdine.laws.law import Law
from sourdine.laws.product import Product, alone

__all__ = ["Law", "Product", "alone"]
