"""Surveys whose answers are randomised in the respondent's own hands.

===============  ===================================================================================
``document``     a survey: questions in words, schema, who asks, where answers go; its fingerprint
``examination``  everything that is wrong with a document, field by field
``page``         one HTML file that asks, randomises and sends
``form``         what a device must know to randomise
``device``       the reference of ``web/device.mjs``, which runs in browsers and in Node
``precision``    what so many people will tell, and what invented records can do
``store``        what a collector keeps: tallies and ids, in one SQLite file
``collector``    the survey's addresses; ``serving`` the HTTP server, ``group_commit`` the writer
``results``      what the survey says so far; ``results_page`` as a page
``words``        what pages say by themselves, in several languages
===============  ===================================================================================
"""

from sourdine.survey.document import Survey, SurveyQuestion
from sourdine.survey.form import form_for_device
from sourdine.survey.page import page

__all__ = ["Survey", "SurveyQuestion", "form_for_device", "page"]
