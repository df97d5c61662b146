"""Reads files of other programs and exports of a suite, and uploads their content to a suite."""
