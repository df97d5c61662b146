"""A dimension set defines the qualities that are scored, with the follow-ups of each."""
