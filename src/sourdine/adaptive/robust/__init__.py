"""Algorithms that stay right when updates depend on their answers."""
