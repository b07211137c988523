"""Reports on their way: a record of one person's randomised answers, and what adds them up."""

from sourdine.local.reports.aggregator import Aggregator
from sourdine.local.reports.arrow import from_arrow, to_arrow, to_ipc, to_parquet
from sourdine.local.reports.form import Form
from sourdine.local.reports.influence import influence
from sourdine.local.reports.json_lines import read_each, read_lines, to_lines
from sourdine.local.reports.reasons import Reason
from sourdine.local.reports.receipts import Receipt
from sourdine.local.reports.records import Records
from sourdine.local.reports.schemas import form_of, records
from sourdine.local.reports.sources import lines_of

__all__ = [
    "Aggregator",
    "Form",
    "Reason",
    "Receipt",
    "Records",
    "form_of",
    "from_arrow",
    "influence",
    "lines_of",
    "read_each",
    "read_lines",
    "records",
    "to_arrow",
    "to_ipc",
    "to_lines",
    "to_parquet",
]
