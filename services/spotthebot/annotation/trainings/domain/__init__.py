"""Checks of trainings and grades of answers to them, all pure."""
