"""Judges that are language models behind an OpenAI-compatible endpoint. Everything that they answer is hostile."""
