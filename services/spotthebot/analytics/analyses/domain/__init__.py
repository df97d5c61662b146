"""The steps of analyses, their plans and their tables; all functions are pure."""
