"""Designs: the best local channel for a question, found by convex optimisation.

============  ======================================================================================
``channels``  exact channels in whole numbers, and the table of those that are known
``design``    designs as exact mechanisms, and their estimates
``numbers``   designs for numbers between bounds
``solver``    the convex problem, and a certificate that no channel is much better
============  ======================================================================================
"""
