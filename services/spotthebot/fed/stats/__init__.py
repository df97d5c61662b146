"""How far FED's scores tell what people say, and how certain that is: arrays in, frozen results out."""
