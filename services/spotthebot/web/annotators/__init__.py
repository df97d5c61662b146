"""Pages on which administrators see how annotators work, and decide about blocks, bonuses, attempts and erasure."""
