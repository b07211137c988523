"""Private quantiles: one file an algorithm, and `Quantiles`, which chooses among them."""
