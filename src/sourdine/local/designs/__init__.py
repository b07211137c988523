"""Designs: the best local channel for a question, found by convex optimisation.

==========  ========================================================================================
``design``  designs as exact mechanisms, their estimates, and the table of precomputed ones
``solver``  the convex problem, and a certificate that no channel is much better
==========  ========================================================================================
"""
