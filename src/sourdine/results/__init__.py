"""Results: releases and other answers, and their tables, charts and JSON.

==============  ====================================================================================
``answer``      the base class of answers: printing, arithmetic, arrays, frames, JSON, and a history
``charts``      charts: matplotlib figures, small multiples, plain SVG, and pages that hold them
``formatting``  numbers, dates and texts as they are printed
``release``     `Release`: a published value with its cost, its mechanism and its caveats
``tables``      tables with notes, and columns of numbers with intervals
``templates``   pages made from Jinja templates: all texts are escaped
==============  ====================================================================================
"""
