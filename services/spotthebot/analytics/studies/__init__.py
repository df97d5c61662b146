"""The results of a study: measures of all its tasks and chats, and their assessment."""
