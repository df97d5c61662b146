"""Background jobs on procrastinate, in the service's own schema.

A job is deferred inside the caller's transaction, so that a rollback forgets it. Jobs may run more than once: they
take ids and are idempotent. A stop of the worker or trouble of the database repeats a job without counting, a worker
that dies is noticed, and a row that waits for a job which is gone gets another one.
"""

from procrastinate import JobContext

from spotthebot.kit.jobs.queue import Jobs, QueueTrouble
from spotthebot.kit.jobs.schema import create_job_tables
from spotthebot.kit.jobs.tasks import DEFAULT_QUEUE, Arguments, Task, WorkerContext

__all__ = [
    "DEFAULT_QUEUE",
    "Arguments",
    "JobContext",
    "Jobs",
    "QueueTrouble",
    "Task",
    "WorkerContext",
    "create_job_tables",
]
