"""Parameters of a statistic: declared once, and converted once for every interface.

==============  ===================================================================================
``kinds``       how a parameter is spelled as text and described in a JSON Schema
``converters``  from typed values to exact values for a formula, or one structured error
``question``    `Question`, a frozen record of parameters; its JSON; functions and methods with
                real signatures, made from the declaration
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
