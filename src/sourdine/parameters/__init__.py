"""The question: parameters declared once, read once, in every face.

==============  ====================================================================================
``converters``  converters from typed values to what a formula needs, or a clear error
``kinds``       kinds of parameters: how one is typed in words, and how JSON Schema describes it
``question``    `Question`: the declared parameters of a statistic, and functions made from them
==============  ====================================================================================
"""
