"""The pages of a server: every number comes from the operations that scripts call, too.

====================  ==============================================================================
``routes``            the address of each page
``visiting``          who asks for a page, and what operations of the API answer them
``rendering``         templates, scripts and styles
``fields``            the desk's form, from the schema of questions
``desk``              data sets, the desk, releases, tokens
``downloads``         a release as CSV, SVG, PNG and JSON
``oversight``         the pages of owners and auditors
``holdouts``          guards: where teams submit, and the leaderboard (``board_picture``)
``plan_pictures``     the gauge and the curve; ``release_pictures`` what was released
``copying``           a question as Python and as a command
====================  ==============================================================================

Parts of a page that change come whole from the server; the scripts put them in their place, and
never make markup of a text.
"""
