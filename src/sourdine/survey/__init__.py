"""Surveys whose answers are randomised in the respondent's own hands."""
