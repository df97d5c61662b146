"""Tables that other tools wrote: rows of any form as texts, what their columns and values mean, and what they hold."""
