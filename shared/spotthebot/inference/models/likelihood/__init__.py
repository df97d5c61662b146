"""Log-likelihoods of follow-ups to dialogues under any language model of transformers: the basis of FED.

A request (`requests.py`) has a dialogue, the turns after which the dialogue is scored, and the follow-ups. The result
(`results.py`) holds sums of log-probabilities, from which every mode of FED is computed. Causal models whose attention
can be replaced read a whole dialogue with all follow-ups in one pass (`packed.py`).
"""
