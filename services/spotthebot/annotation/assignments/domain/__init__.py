"""Assignments, their answers, their gold items and the checks of submitted work; all functions are pure."""
