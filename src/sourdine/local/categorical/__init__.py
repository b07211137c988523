"""Randomisers of a category: each answer protects its own person.

============  ======================================================================================
``choosing``  which randomiser of a category: the least variance, and then the shortest report
``hashing``   local hashing and Hadamard response
``oracle``    what the randomisers of a category share
``subset``    subset selection: a random set of categories that mostly holds the true one
``unary``     unary encoding of one category, and flipped sets of several
============  ======================================================================================
"""
