"""Audibert 2024: means, quantiles, limits of mechanisms, lower bounds."""
