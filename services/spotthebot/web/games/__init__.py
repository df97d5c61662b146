"""The leaderboard of a game, which shows annotators their ranks and points."""
