"""One module for each protocol of bots; each module implements `Speaker`."""
