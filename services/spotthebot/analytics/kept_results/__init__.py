"""Keeps computed results, and shares the threads that compute them."""
