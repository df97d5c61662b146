"""The points and ranks of a game's annotators."""
