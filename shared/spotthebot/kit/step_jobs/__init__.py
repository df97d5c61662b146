"""Resumable step jobs: long work in numbered steps. The result of each step is stored in the service's own schema.

A service adds the tables to its metadata (`tables.step_job_tables`), defines how a job is divided into steps
(`runner.StepWork`) and runs it as a task of its worker (`runner.StepJobs.add_task`). A job is started inside the
caller's transaction. It shows how many steps are done, and can be cancelled between two steps. After its worker was
killed, it continues at the first missing step. It fails if a peer did not answer in several attempts.
"""
