"""What can be done with bots and hosted models."""
