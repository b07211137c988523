"""Estimators: what the reports of many people tell, and how surely."""
