"""Endpoints for reviews of annotators and of assignments."""
