"""An entry brings a person into a campaign by a link, and takes their consent."""
