"""The answer: what a person gets, and everything a person does with it.

==============  ===================================================================================
``sheet``       a table with notes, as text and as HTML: the one layout of everything printed
``columns``     numbers with labels and ends, as frames of any library and as an Arrow stream
``history``     what was asked so far, a line each
``answer``      what every answer can do: print, become a number, an array, a frame, JSON
``release``     a published value with its cost, and what it asks of that which drew it
==============  ===================================================================================
"""
