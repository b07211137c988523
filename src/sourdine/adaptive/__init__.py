"""Answers that stay true when the next question depends on the last one."""
