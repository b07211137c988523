"""The lab: every figure of the documents redrawn, every claim judged by what is computed.

===============  ==================================================================================
``experiments``  one module a figure: question, parameters, computation, picture
``claims``       one row a claim: what is printed and what stands instead, run by one check
``experiment``   what an experiment is; its parts, each with chance of its own
``registry``     finds the experiments; ``runner`` computes them on all cores, resumably
``look``         one palette, one colour a method, lines named at their ends
``page``         one page with every figure and every claim, that needs no network
===============  ==================================================================================
"""
