"""Densities from values that nobody ever held in the clear.

============  ======================================================================================
``bins``      densities from shares of bins at one resolution or several
``call``      `density`: from a column to a density, with the choice of the method
``density``   `Density`, its chart, and the protocol between people and server
``dubois``    densities from noisy wavelet coefficients
``one_bit``   one bit a person: a random level, a random sign pattern, and a randomised sign
``wavelets``  orthogonal wavelets on a public dyadic grid, in whole numbers
============  ======================================================================================
"""
