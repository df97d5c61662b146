"""Dimensions and sets of them, built in or a user's; all functions are pure."""
