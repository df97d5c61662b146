"""Pages on which a team registers its bots and sees their probes, versions and standings."""
