"""Chats of people with bots: open a study, start a chat, converse, reply, end idle chats, follow events."""
