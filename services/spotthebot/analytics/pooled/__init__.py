"""Results pooled over several campaigns."""
