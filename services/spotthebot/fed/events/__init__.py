"""An event publishes that a score job has ended."""
