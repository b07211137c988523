"""Densities from values that nobody ever held in the clear."""
