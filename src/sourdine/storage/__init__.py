"""An append-only journal over a file, SQLite or PostgreSQL: one writer at a time, hash chain.

==================  ==============================================================================
``locks``           locks between threads and processes, and writes that reach the disk
``journal``         lines that vouch for each other in one file
``database``        SQLite and PostgreSQL: one writer at a time, many jobs to a commit
``table_journal``   the same lines as rows of a database
``postgres``        what PostgreSQL does in its own way
==================  ==============================================================================
"""
