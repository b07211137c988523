"""Dates and times as whole numbers: microseconds since 1970-01-01, without leap seconds.

===============  ==================================================================================
`instants`       one value, or an array of them, to microseconds; years 1 to 9999
`formats`        dates and times as texts: ISO 8601, or a format that is declared
`durations`      steps and errors: ``"7 days"``, ``"15 min"``
`lattices`       bounds and a step that are dates, as the grid needs them
===============  ==================================================================================

A value with a zone is the instant that it is in UTC; one without is taken as it is written.
"""

from sourdine.calendar.durations import DAY, Duration, about, read_duration, spelled, unit_of
from sourdine.calendar.formats import ISO, DateFormat
from sourdine.calendar.instants import (
    FIRST,
    LAST,
    NOWHERE,
    instants_of,
    moment,
    read_date,
    read_instant,
    written,
)
from sourdine.calendar.lattices import DATES, TIMES, even_edges, read_lattice

__all__ = [
    "DATES",
    "DAY",
    "FIRST",
    "ISO",
    "LAST",
    "NOWHERE",
    "TIMES",
    "DateFormat",
    "Duration",
    "about",
    "even_edges",
    "instants_of",
    "moment",
    "read_date",
    "read_duration",
    "read_instant",
    "read_lattice",
    "spelled",
    "unit_of",
    "written",
]
