"""Plumbing that every service uses. It contains nothing of the domain of chatbots."""
