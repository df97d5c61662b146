"""An entry link lets people into a campaign: people sent by a panel, or one annotator."""
