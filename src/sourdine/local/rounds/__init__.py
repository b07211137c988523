"""Surveys of several rounds: a person who is asked again and again keeps one total.

==============  ====================================================================================
``histories``   what several rounds cost a person, and the law of a whole history
``memoised``    randomisers with a memory: a permanent response, and a fresh one in each round
``respondent``  the devices of a survey of several rounds: they keep memories, and answer from them
``series``      `Series`: estimates round by round, their chart and their plan
==============  ====================================================================================
"""
