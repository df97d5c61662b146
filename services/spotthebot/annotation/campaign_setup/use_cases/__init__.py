"""Campaigns: create, change, fill with packages or imports, open, close."""
