"""A removal deletes a corpus that no collection uses and no bot learns from."""
