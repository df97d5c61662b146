"""Pages on which an annotator enters a campaign by a link, and gives or withdraws consent."""
