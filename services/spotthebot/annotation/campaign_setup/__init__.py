"""Campaign setup makes a campaign from collections, fills it with packages, and opens, changes and ends it."""
