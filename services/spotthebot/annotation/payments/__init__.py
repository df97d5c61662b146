"""A payment is the amount that a campaign owes an annotator for packages and bonuses."""
