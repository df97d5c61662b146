"""How well FED's scores agree with people's ratings, and how certain this is. Pure: arrays in, frozen results out."""
