"""Wire schemas and ids that cross a boundary: data only, no behaviour, nothing of the services that use them."""
