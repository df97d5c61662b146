"""A correlation says how well the scores of a set agree with people's ratings."""
