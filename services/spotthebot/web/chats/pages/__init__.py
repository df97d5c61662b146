"""The pages of a chat, the check of who may open them, and the links into a chat."""
