"""A curator's server: one store, shared by all workers.

===============  ===================================================================================
``app``          the ASGI application: routes and security headers
``auth``         who asks: passwords, limits on attempts, tokens and cookies
``datasets``     data sets: their public columns, and the operations on them
``guards``       guards on a server: registering, submissions, leaderboards
``labels``       the labels of guards, which stay in the server; and predictions, as teams send them
``openapi``      the OpenAPI document, for all data sets and for one
``pages``        the pages of a server: every number comes from the operations that scripts call,
                 too
``people``       accounts, logging in and out, and tokens
``releases``     plans, releases and ledgers over HTTP
``requests``     a request as routes see it: limits, parsing, and refusals as problem documents
``running``      starting and stopping workers, and setting up a store
``sources``      where a data set's rows are: a path, a folder of Parquet, or a table of a database
``state``        settings, and what a worker holds: the store and the open data sets
``store``        where a server keeps charges, answers and people: one database, shared by all
                 workers
``surveys``      surveys on a server: drafts, open surveys, results
===============  ===================================================================================
"""
