"""What `conversations` does, by verb: plan, hold, steer, upload, read."""
