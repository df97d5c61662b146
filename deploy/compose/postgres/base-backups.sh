#!/bin/sh
# Runs beside PostgreSQL: makes a base backup as soon as there is none of the last day, or after restore.sh.
set -eu
archive="${WAL_ARCHIVE:-/archive}"
here=$(cd "$(dirname "$0")" && pwd)
until pg_isready --quiet; do sleep 1; done
while :; do
  if [ -e "$archive/base/.due" ] || [ -z "$(find "$archive/base" -maxdepth 1 -name '[0-9]*' -mmin -1440 2> /dev/null)" ]; then
    if sh "$here/base-backup.sh"; then
      rm -f "$archive/base/.due"
    else
      echo "base-backups.sh: no base backup was made, and the line above says why; the next try is in a minute." >&2
    fi
  fi
  sleep 60
done
