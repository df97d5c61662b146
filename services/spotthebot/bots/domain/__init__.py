"""What a bot is and how the built-in ones reply: pure rules, no I/O."""
