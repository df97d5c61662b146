"""A reply is a bot's answer to a context. The suite and teams request replies by the bot's id or by OpenAI's API."""
