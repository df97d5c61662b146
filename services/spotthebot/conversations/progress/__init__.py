"""Progress shows how far a collection is: by pair, by the reasons of failures, and as a stream."""
