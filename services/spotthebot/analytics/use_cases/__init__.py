"""The use cases of `analytics`. Computations run in threads, off the event loop."""
