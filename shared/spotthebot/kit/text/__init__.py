"""Characters, words and names, and texts about what is wrong with them."""
