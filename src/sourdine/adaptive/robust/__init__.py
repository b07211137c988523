"""Algorithms that stay right when updates depend on their answers.

===========  =======================================================================================
``advice``   `advise`: the cheapest algorithm that withstands adaptive updates
``proof``    what is proved of many copies and a private median, and the copies it takes
``wrapper``  `Robust`: copies of a dynamic algorithm behind a private median or switching
===========  =======================================================================================
"""
