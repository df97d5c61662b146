"""Background jobs on procrastinate, in the service's own schema.

A job is queued in the caller's transaction, so a rollback removes it. A job may run more than once: it takes only ids
as arguments, and a repetition changes nothing. If the worker stops or the database fails for a while, the job is
repeated, and the repetition does not count as a retry. The jobs of a dead worker are repeated. If a row waits for a job
that is lost, another job is queued for the row.
"""
