"""Surveys whose answers are randomised in the respondent's own hands.

=====================  =============================================================================
``demo``               a survey that runs on this machine, answered by simulated browsers
``document``           `Survey`: what is asked, in which words, at what cost, by whom, and where
                       answers go
``form``               the form that a device reads
``page``               a survey as one HTML file: words, scripts, page
``postgres_database``  `PostgresTables`: a survey's tables in PostgreSQL
``precision``          the precision that a number of people will give, and a summary of a survey
``results``            results of a survey so far, and their page
``serving``            serving over HTTP with uvicorn: limits, and the server of one survey
``store``              `SurveyStore`: what a collector keeps, written by one thread for all requests
=====================  =============================================================================
"""

from sourdine.survey.document import Survey
from sourdine.survey.form import form_for_device
from sourdine.survey.page import page

__all__ = ["Survey", "form_for_device", "page"]
