"""The audit log of a campaign: decisions about its annotators and results, with the person who took each."""
