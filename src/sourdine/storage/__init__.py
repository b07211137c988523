"""An append-only journal over a file, SQLite or PostgreSQL: one writer at a time, hash chain.

==================  ==============================================================================
``locks``           locks between threads and processes, and writes that reach the disk
``journal``         an append-only file whose lines form a hash chain
``database``        SQLite and PostgreSQL: one writer at a time, several jobs per commit
``table_journal``   the same lines as rows of a database
``postgres``        the PostgreSQL dialect, and read-only snapshots of tables
==================  ==============================================================================
"""
