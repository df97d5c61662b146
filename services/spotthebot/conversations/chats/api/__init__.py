"""The HTTP edge of chats: who may enter them, how people come to them, and what people do in them."""
