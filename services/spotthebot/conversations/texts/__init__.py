"""A text is an utterance. Rules find exchanges, farewells and debris of a model's vocabulary in its words."""
