"""Figures that no document has: today's best methods on the documents' axes."""
