"""Parameters of a statistic: declared once, and converted once for every interface.

==============  ====================================================================================
``converters``  converters from typed values to what a formula needs, or a structured error
``kinds``       kinds of parameters: how they are spelled as text, and their JSON Schema
``question``    `Question`: the declared parameters of a statistic, and functions made from them
==============  ====================================================================================
"""
