"""Changes and previews of campaigns, all pure."""
