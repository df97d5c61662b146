"""A corpus holds dialogues of people: bots learn from them, conversations open with them, collections may hold them."""
