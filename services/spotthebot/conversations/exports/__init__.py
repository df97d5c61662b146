"""An export writes all conversations of a collection, with all their turns, into one file with a card."""
