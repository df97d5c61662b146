"""A payment is what a campaign owes an annotator for packages, with bonuses."""
