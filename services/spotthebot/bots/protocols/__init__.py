"""One module for each protocol; all of them implement `Speaker`."""
