"""An import stores conversations held elsewhere, or conversations from an export."""
