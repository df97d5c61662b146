"""The registry registers bots and their versions, lists them, and changes what decides no reply."""
