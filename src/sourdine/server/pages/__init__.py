"""The pages of a server: every number comes from the operations that scripts call, too.

==================  ================================================================================
``administration``  log-in, not-found page, and the pages of owners and auditors
``analyst``         the analyst's pages: data sets, the form, releases, downloads
``fields``          the desk's form, from the one schema of questions and from what the owner says
                    of columns
``guards``          pages of guards: where a team submits, the leaderboard, and what owners and
                    auditors see
``pictures``        SVG charts of plans, releases and leaderboards
``rendering``       templates, static files, and a page as it is asked for
``routes``          the address of each page
``surveys``         the pages of surveys: the list, the editor of a draft, its preview, and what
                    came of it
==================  ================================================================================

Parts of a page that change come whole from the server; the scripts put them in their place, and
never make markup of a text.
"""
