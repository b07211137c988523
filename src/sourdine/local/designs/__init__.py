"""Designs: the best local channel for a question, found by convex optimisation.

==========  ========================================================================================
``design``  designs as exact mechanisms, their estimates, and the table of precomputed ones
``number``  numbers reported by a design for their distribution function
``solver``  the convex problem, and a certificate that no channel is much better
==========  ========================================================================================
"""
