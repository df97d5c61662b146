"""The worth of judges: what they said of a campaign, and what it saves; all functions are pure."""
