"""Partner sets of bipartite-play: the list, one version with its reference results, and their files."""
