"""Studies from the demonstration or a published dump: imported, analysed, ranked, reported."""
