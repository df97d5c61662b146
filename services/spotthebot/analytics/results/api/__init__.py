"""The endpoints of a campaign's results, each with the dependencies of `deps.py`."""
