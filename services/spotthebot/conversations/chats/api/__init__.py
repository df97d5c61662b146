"""The endpoints of chats: access, entry links, and the actions of people in a chat."""
