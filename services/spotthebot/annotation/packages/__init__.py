"""A package holds the items that one annotator labels in one sitting."""
