"""What operators do with the data of a suite: back up, restore, prepare a deployment."""
