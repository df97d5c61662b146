"""Pages for annotators, teams, researchers and operators: a client of the other services, without privileges."""
