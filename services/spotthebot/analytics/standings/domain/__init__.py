"""What a team may see of a campaign, and its tables."""
