"""The use cases of `analytics`; computations run in threads, off the event loop."""
