"""A score set is the result of a score job; both have one id. The record of a job is here."""
