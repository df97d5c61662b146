"""A campaign lets annotators annotate conversations by a protocol; `campaign_setup` makes and changes it."""
