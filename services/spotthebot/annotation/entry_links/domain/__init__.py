"""Entry links and panels: what is signed, what panels send, and what they get back."""
