"""The first page of an annotator, and the pages for consent, notes and finished packages."""
