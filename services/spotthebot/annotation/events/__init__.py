"""An event tells subscribers that something happened to a campaign, an assignment or an annotator."""
