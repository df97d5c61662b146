"""Statistics that several services need: arrays in, frozen results out, without any word of a service."""
