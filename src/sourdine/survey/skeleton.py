"""A survey to begin with: it is whole, and every line of it is there to be changed."""

__all__ = ["SKELETON"]

SKELETON = """\
# A survey whose answers are randomised in the respondent's own browser.
#   sourdine survey check survey.toml            what is wrong with it, what it costs
#   sourdine survey plan survey.toml --n 2000    how precise 2000 answers are
#   sourdine survey page survey.toml             the page, one HTML file
#   sourdine survey open survey.toml             freezes it, in commute.db
#   sourdine survey serve commute.db             serves the page, collects records, shows results
name = "commute"
languages = ["en", "fr"]        # the page itself speaks ar, de, en, es, fr
who = "Town of Aix"
contact = "survey@example.org"
# Where records are sent: this machine, to try it. So that others can answer, write the https://
# address under which they will reach your collector.
send_to = "http://127.0.0.1:8000/commute/reports"

# What a whole record costs, at most 8. At 1 nobody who sees it can be more than 74 % sure of a yes
# or no. method = "sample" sends the answer to one question, drawn at random: more accurate.
epsilon = 1
method = "split"

# A text is a string, the same in all languages, or has one for each.
title = { en = "How do you come to work?", fr = "Comment venez-vous au travail ?" }
text = { en = "Four questions for better buses.", fr = "Quatre questions pour de meilleurs bus." }

# Bounds and categories are public: what may be answered, never what was. With missing = true a
# question may be left unanswered: that is reported privately too, and results say how many did.
# Without it the page needs an answer. Of "choices" any number may be ticked, none among them.
[questions.way]
kind = "choice"
categories = ["foot", "bike", "bus", "car"]
missing = true
ask = { en = "How did you come today?", fr = "Comment êtes-vous venu aujourd'hui ?" }
help = { en = "The longest part of the way.", fr = "La plus longue partie du trajet." }
labels.foot = { en = "on foot", fr = "à pied" }
labels.bike = { en = "by bicycle", fr = "à vélo" }
labels.bus = { en = "by bus", fr = "en bus" }
labels.car = { en = "by car", fr = "en voiture" }

[questions.minutes]
kind = "number"
lower = 0
upper = 120
step = 1
missing = true
ask = { en = "How many minutes did it take?", fr = "Combien de minutes ?" }

[questions.late]
kind = "flag"
missing = true
ask = { en = "Were you late this week?", fr = "Avez-vous été en retard cette semaine ?" }

[questions.wishes]
kind = "choices"
choices = ["seats", "shade", "times"]
ask = { en = "Why would you take the bus?", fr = "Pourquoi prendriez-vous le bus ?" }
labels.seats = { en = "more seats", fr = "plus de places" }
labels.shade = { en = "shelters", fr = "des abris" }
labels.times = { en = "more often", fr = "plus souvent" }
"""
