"""Chats of people with bots: open a collection of chats, start a chat, converse, reply, end idle chats, send events."""
