"""`./stb collect` starts or resumes the collection that a file declares, and follows it to its end."""
