"""A collection holds conversations that were planned or imported together, with a plan, a state and counts."""
