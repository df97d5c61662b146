"""Wire schemas and ids that cross a boundary: data only, no behaviour, and no import from a service."""
