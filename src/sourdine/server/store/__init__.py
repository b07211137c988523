"""Where a server keeps charges, answers and people: one database, shared by all workers."""
