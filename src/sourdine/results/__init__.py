"""Results: releases and other answers, and their tables, charts and JSON.

==============  ====================================================================================
``answer``      the base class of answers: printing, arithmetic, arrays, frames, JSON, and a history
``charts``      what a chart shows: marks, axes, and the numbers of each group
``figures``     charts drawn with matplotlib, and pages that hold them
``release``     `Release`: a published value with its cost, its mechanism and its caveats
``svg``         charts drawn as plain SVG
``tables``      tables with notes, and columns of numbers with intervals
==============  ====================================================================================
"""
