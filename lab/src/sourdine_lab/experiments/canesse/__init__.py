"""Canesse 2022: private quantiles with a trusted curator."""
