"""Pages on which a person chats with several bots one after the other, rates each bot, and compares the bots."""
