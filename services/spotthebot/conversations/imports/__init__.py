"""An import stores conversations that took place elsewhere, or that an export brings back."""
