"""The turn loop: runners claim conversations, request the next turns from bots, commit them, and claim more."""
