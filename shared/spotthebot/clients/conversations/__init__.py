"""The client of `conversations`: corpora, collections, conversations, chats with people, events."""
