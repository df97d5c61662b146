"""The use cases of `analytics`; whatever computes runs in threads, off the event loop."""
