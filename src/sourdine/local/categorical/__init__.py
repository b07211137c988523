"""Randomisers of a category: each answer protects its own person."""
