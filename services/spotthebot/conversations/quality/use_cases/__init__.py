"""The quality of conversations: requests for checks, and the job that performs them."""
