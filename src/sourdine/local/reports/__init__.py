"""Reports on their way: a record of one person's randomised answers, and what adds them up.

==============  ====================================================================================
``aggregator``  `Aggregator`: adds up reports as they arrive
``records``     `Records`: randomised answers of many people, as arrays and as JSON lines
``sources``     from a schema or a table to records, and the places that reports come from
==============  ====================================================================================
"""
