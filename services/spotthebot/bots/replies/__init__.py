"""A reply answers a context: the suite and teams ask a bot for replies, by its id or through OpenAI's chat API."""
