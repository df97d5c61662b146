"""Changes and previews of campaigns; all functions are pure."""
