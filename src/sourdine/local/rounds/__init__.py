"""Surveys of several rounds: a person who is asked again and again keeps one total.

==================  ===============================================================================
``memoised``        a permanent response, and a fresh one on top of it each round
``hashing``         `MemoisedHashing`, LOLOHA: two permanent responses, however many categories
``response``        `PermanentResponse`: one for each category
``losses``          what rounds tell of a person, between which histories
``histories``       `Histories`: all rounds as one mechanism with one law, for audits
``costs``           what a survey costs one person, as it is printed
``respondent``      the devices: memories, and the records of each round
``series``          the server: shares of each round, and their picture
``planning``        which intervals so many people give
==================  ===============================================================================
"""
