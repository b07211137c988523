"""The answer: what a person gets, and everything a person does with it.

==============  ====================================================================================
``answer``      what every answer offers: printing, arithmetic, arrays, frames, JSON, and a history
``charts``      charts: matplotlib figures, small multiples, plain SVG, and pages that hold them
``formatting``  numbers, dates and texts as they are printed
``release``     `Release`: a number never travels alone
``tables``      tables with notes, and columns of numbers with intervals
==============  ====================================================================================
"""
