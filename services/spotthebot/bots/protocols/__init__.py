"""One module for each way of asking a bot; what they share is `Speaker`."""
