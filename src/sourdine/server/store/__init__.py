"""Where a server keeps charges, answers and people: one database, shared by all workers.

============  ======================================================================================
``base``      what a server keeps: the records of its store, and what a release needs of a question
``checks``    checks of a store, and the witness that notices an older copy
``datasets``  data sets, their ledgers, and surveys
``guards``    guards: their tables, submissions and checks
``people``    people, tokens, grants, and counted attempts to log in
``releases``  releases: charged once, drawn, stored, and answered with what is stored
``store``     `ServerStore`: everything a server keeps, in one database
============  ======================================================================================
"""
