"""Results: releases and other answers, and their tables, charts and JSON.

==============  ===================================================================================
``formatting``  numbers, dates and texts as they are printed
``tables``      tables with notes, as text and HTML; columns of numbers with intervals, as frames
``charts``      matplotlib figures, SVG drawings, and HTML pages that hold them
``answer``      the base class of answers: numbers, arrays, frames, JSON; and the history
``release``     `Release`, a published value with its cost; `Estimator`, which computes intervals
==============  ===================================================================================
"""
