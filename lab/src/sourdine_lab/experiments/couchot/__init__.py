"""Couchot 2023: local privacy of a table, redrawn."""
