"""The ratings that people give to bots after a chat."""
