"""An export hands out a campaign's annotations as a file."""
