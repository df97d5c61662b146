"""Files that others wrote, and exports of a suite: read and uploaded."""
