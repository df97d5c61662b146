"""What the service `conversations` speaks of: corpora, collections, partner sets, conversations."""
