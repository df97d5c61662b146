"""A probe asks a bot a few questions; the report decides whether the bot is active or failing."""
