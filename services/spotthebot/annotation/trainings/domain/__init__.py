"""Checks of trainings and grades of answers; all functions are pure."""
