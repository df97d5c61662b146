"""The turn loop runs conversations: runners claim them, request their next turns from bots, and commit the turns."""
