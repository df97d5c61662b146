"""An event publishes a fact: a collection finished or was cancelled, a bot fails or has recovered."""
