"""Where a server keeps charges, answers and people: one database, shared by all workers.

============  ======================================================================================
``base``      what a server keeps: the records of its store, and what a release needs of a question
``checks``    checks of a store, and the witness that notices an older copy
``guards``    guards: their tables, submissions and checks
``releases``  releases: charged once, drawn, stored, and answered with what is stored
``store``     `ServerStore`: everything a server keeps, in one database
============  ======================================================================================
"""
