"""Resumable step jobs: long work in numbered steps, each kept, on tables that a service mounts on its own schema.

A service adds the tables to its metadata (`tables.step_job_tables`), says how a job is divided into steps
(`runner.StepWork`) and runs it as a task of its worker (`runner.StepJobs.add_task`). A job is started inside the
caller's transaction, shows how many steps are done, can be cancelled between two steps, continues at its first missing
step after its worker was killed, and fails once a peer did not answer for a number of attempts.
"""
