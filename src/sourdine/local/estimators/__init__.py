"""Estimators: what the reports of many people tell, and how surely.

================  ==================================================================================
``distribution``  quantiles and shares of a number from reports
``frequencies``   shares of categories from reports, with intervals, projected on the simplex
``means``         means of a number from reports
================  ==================================================================================
"""
