"""An entry brings a person into a campaign by a link; consent is given there."""
