"""Dubois, Butucea, Kroll and Saumard 2019: densities from noisy wavelets, redrawn."""
