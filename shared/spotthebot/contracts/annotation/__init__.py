"""Wire schemas of the service `annotation`."""
