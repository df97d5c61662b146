"""Registry and hosting of bots: who they are, where they run and what they reply."""
