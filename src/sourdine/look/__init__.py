"""One look for all numbers and pictures."""
