"""The public leaderboard: campaign results that an administrator published."""
