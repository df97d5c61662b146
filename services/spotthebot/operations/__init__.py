"""Operations on a suite's data: backup, restoration, and the preparation of a deployment."""
