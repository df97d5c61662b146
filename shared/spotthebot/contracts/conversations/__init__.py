"""Wire schemas of the service `conversations`: corpora, collections, partner sets, conversations."""
