"""Tables of other tools: their rows as texts, the meaning of columns and values, and what the rows say."""
