"""Control pauses, resumes, cancels, renames and prioritises collections."""
