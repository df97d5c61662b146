"""The download of a campaign's annotations as a file."""
