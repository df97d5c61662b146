"""What judges of a campaign are worth, from their probabilities and the labels of people."""
