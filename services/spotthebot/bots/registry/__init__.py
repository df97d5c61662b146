"""The registry registers bots and their versions, lists them, and changes fields that do not affect replies."""
