#!/bin/sh
# Runs beside PostgreSQL and receive-wal.sh: makes a base backup as soon as there is none of the last day, or none since
# the database is on its timeline, as after a restore.
set -eu
archive="${WAL_ARCHIVE:-/archive}"
here=$(cd "$(dirname "$0")" && pwd)
until pg_isready --quiet; do sleep 1; done
while :; do
  if [ -z "$(find "$archive/base" -maxdepth 1 -name '[0-9]*' -mmin -1440 -newer "$archive/timelines" 2> /dev/null)" ]; then
    if ! sh "$here/base-backup.sh"; then
      echo "base-backups.sh: no base backup was made, and the line above says why; the next try is in a minute." >&2
    fi
  fi
  sleep 60
done
