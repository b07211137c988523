"""Parameters that nobody knows, found privately: bounds, and how many rows of a person to keep.

=============  =====================================================================================
``bounds``     bounds found privately, for one column or several
``octaves``    a mean from sums of the records of each octave, around a private centre
``search``     the search for bounds: a rough centre, then outwards until few records are beyond
``two_stage``  statistics in two stages: find a parameter privately, then use it
=============  =====================================================================================
"""
