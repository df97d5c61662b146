"""An assignment is a package in the hands of an annotator, from claim to submission."""
