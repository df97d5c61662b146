"""Control pauses, resumes, cancels and prioritises collections."""
