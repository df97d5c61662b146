"""An entry link lets people into a campaign: those whom a panel sends, or one annotator."""
