"""Protocols and trainings from the files of ABC-Eval (Finch, Finch and Choi 2023)."""
