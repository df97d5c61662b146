"""Pages on which an annotator labels a package: items that one annotator labels in one sitting."""
