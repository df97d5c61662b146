"""Models that worker processes and Triton run. The kind of each is the import path of a function.

A copy of this folder runs next to a Triton model. So its modules import nothing else of the project, and each other
only by relative imports. Torch is imported when a model is loaded, not before.
"""
