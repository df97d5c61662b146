"""What every service is started with: its process, the checks before it starts, its spans."""
