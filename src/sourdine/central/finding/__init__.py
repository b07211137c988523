"""Parameters that nobody knows, found privately: bounds, and how many rows of a person to keep.

================  ==================================================================================
``candidates``    which bounds may be named: public numbers outward from a centre
``centre``        a rough median on the lattice of octaves, round numbers first
``search``        the first candidate that few records pass, on each side
``first``         a question of which something is found first: ``bounds`` or ``rows``
================  ==================================================================================
"""
