"""A text is an utterance: rules recognise exchanges, farewells and debris of a model's vocabulary by its words."""
