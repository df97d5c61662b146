"""An annotator is a person, or a program, who annotates in one campaign."""
