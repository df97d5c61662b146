"""The HTTP edge of replies: our own, and OpenAI's."""
