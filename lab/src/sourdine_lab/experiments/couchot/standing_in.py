"""Says on a figure what its data are, where the slides' table was not at hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sourdine.results.figures import GREY

if TYPE_CHECKING:
    from sourdine_lab.table import Table

__all__ = ["name_data"]


def name_data(figure: Any, table: Table) -> None:
    """Name the stand-in below the figure; nothing if the data are the Pima table."""
    if table["data"][0] == "Pima":
        text = "Data: Pima diabetes, 768 records, read beside the package"
    else:
        text = (
            "Stand-in for the data: 768 records, normal within two classes with round means and"
            " deviations; SOURDINE_DATA names the folder of the Pima table"
        )
    figure.supxlabel(text, x=0.01, ha="left", fontsize=8, color=GREY)
