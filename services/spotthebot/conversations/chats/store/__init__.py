"""The only SQL over chats: their events, tokens, links and ratings."""
