"""An export writes the conversations of a collection, whole, into one file with a card."""
