"""Events of a service: an outbox, subscriptions, and signed deliveries by Standard Webhooks.

Each service has these tables in its own schema. It adds the tables to its metadata (`event_tables`), makes an
`EventStore` from them and a catalogue of its event types, serves `events_router`, and runs an `EventDispatcher` in its
worker.
"""
