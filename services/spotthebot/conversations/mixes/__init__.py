"""A mix is the selection of conversations for a campaign, from one or several collections."""
