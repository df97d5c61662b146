"""An assignment is a package in the hands of an annotator, from the claim to the submission."""
