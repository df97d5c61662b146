"""A built-in bot replies in this process, from rules or from dialogues of people that it learned."""
