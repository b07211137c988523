"""Canesse 2022: private quantiles with a trusted curator, rows C1 to C12."""
