"""The rules of chats, and of the people and programs who chat."""
