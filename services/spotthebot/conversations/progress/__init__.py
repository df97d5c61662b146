"""Progress of a collection: by pair, by the reasons of failures, and as a stream."""
