"""Pages that list the annotators of a campaign, show one annotator, and take decisions about an annotator."""
