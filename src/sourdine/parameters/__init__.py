"""The question: parameters declared once, read once, in every face.

==============  ===================================================================================
``kinds``       how a parameter is typed in words and described in a JSON Schema
``converters``  what a person may type, to what a formula needs: exact, or one structured error
``question``    a frozen record of what is asked; its JSON; the reader
``faces``       functions and methods with real signatures, made from the declaration
==============  ===================================================================================
"""

from sourdine.parameters.kinds import DATA, GROUPS, PRIVACY, WHAT, Kind, param
from sourdine.parameters.question import (
    Face,
    Parameter,
    Question,
    function,
    parameters,
    read,
    schema,
)

__all__ = [
    "DATA",
    "GROUPS",
    "PRIVACY",
    "WHAT",
    "Face",
    "Kind",
    "Parameter",
    "Question",
    "function",
    "param",
    "parameters",
    "read",
    "schema",
]
