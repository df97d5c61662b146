"""Collections: start, estimate, pause, resume, cancel, prioritise and import them; the partner sets they draw on."""
