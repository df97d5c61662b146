"""The performance of a bot: the outcomes of its conversations, its failures and its reply times."""
