"""The setup of a campaign makes it from collections, fills it with packages, and opens, changes and ends it."""
