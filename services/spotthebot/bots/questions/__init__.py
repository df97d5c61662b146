"""A question shows a bot a context and asks for its next turn. The answer is a reply or the reason for a failure."""
