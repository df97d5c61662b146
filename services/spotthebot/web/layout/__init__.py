"""The layout that all pages share: frames, forms, numbers and languages."""
