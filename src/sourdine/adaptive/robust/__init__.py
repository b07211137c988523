"""Algorithms that stay right when updates depend on their answers.

===========  =======================================================================================
``advice``   `advise`: the cheapest algorithm that withstands adaptive updates
``lazy``     exact recomputation, put off for as long as the last value is still good
``proof``    what is proved of many copies and a private median, and the copies it takes
``wrapper``  `Robust`: copies of a dynamic algorithm behind a private median or switching
===========  =======================================================================================
"""
