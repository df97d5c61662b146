"""Rules of the pages that know no framework."""
