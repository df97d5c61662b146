"""A participant takes a side of a conversation; a partner set keeps the partners of bipartite-play by name."""
