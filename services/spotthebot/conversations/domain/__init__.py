"""What a collection is made of and how it is planned: pure rules, no I/O."""
