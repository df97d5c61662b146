"""What can be asked of `analytics`. The computing is done off the event loop."""
