"""A curator's server: one store, shared by all workers."""
