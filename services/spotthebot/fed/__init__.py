"""FED: scores a dialogue by how likely a language model finds follow-ups such as "That makes no sense!" after it."""
