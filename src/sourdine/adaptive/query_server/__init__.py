"""One sample, ten thousand questions, each of which may follow from the answers before it.

============  ======================================================================================
``evidence``  the rows that a query server holds: categories, universe, averages
``facts``     what a server tells unasked, before the first question, and what that costs
``guesses``   where guesses come from: a hypothesis by multiplicative weights, or split rows
``looks``     looks at the sample: is its average near the guess, exactly or through noise
``server``    `QueryServer`: many adaptive questions to one sample
============  ======================================================================================
"""
