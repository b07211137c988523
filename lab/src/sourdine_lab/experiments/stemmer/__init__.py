"""Figures for Stemmer's lecture 9: adaptive inputs, and privacy as a tool against them."""
