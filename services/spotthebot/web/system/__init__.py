"""Pages for operators: the state of the services, running work, and how to make keys."""
