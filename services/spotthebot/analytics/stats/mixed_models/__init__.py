"""Mixed models of ratings: bots are fixed effects, dialogues and annotators are crossed random intercepts.

Forms that papers print. Their tests claim too much if annotators differ in their taste for bots (`results`).
"""
