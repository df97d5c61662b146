"""A study is a named group of campaigns over the same dialogues: its tasks, its chats, and the outcome to explain."""
