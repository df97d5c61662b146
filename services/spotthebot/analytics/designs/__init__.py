"""What a design of a campaign can show at best."""
