"""An append-only journal over a file, SQLite or PostgreSQL: one writer at a time, hash chain.

=================  =================================================================================
``database``       SQLite and PostgreSQL behind one interface: one writer at a time, group commit
``journal``        an append-only file whose lines form a hash chain
``locks``          locks between threads and processes, and writes that reach the disk
``postgres``       PostgreSQL: the dialect of the shared database, and read-only snapshots of tables
=================  =================================================================================
"""
