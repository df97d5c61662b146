"""A question shows a bot a context and asks for its next turn; the answer is a reply, or says why there is none."""
