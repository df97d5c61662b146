"""A participant takes a side of a conversation; a partner set stores the partners of bipartite-play under a name."""
