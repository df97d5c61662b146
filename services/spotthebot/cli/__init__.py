"""The command line. Like the pages, it is a client of the five services."""
