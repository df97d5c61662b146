"""Marks: the colour and the shape of each bot, and of people, on all pages and figures of a campaign."""
