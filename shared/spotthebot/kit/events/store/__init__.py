"""All SQL of events is here: subscriptions, the outbox, and the queue of deliveries."""
