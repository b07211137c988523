"""Laws: complete distributions on the integers, as evidence for every claim."""

from sourdine.laws.compare import Certified
from sourdine.laws.law import Law
from sourdine.laws.pieces import Pieces, Tail
from sourdine.laws.product import Product, alone

__all__ = ["Certified", "Law", "Pieces", "Product", "Tail", "alone"]
