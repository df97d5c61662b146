#!/bin/sh
# Runs beside PostgreSQL and writes down every change as it is made, into $WAL_ARCHIVE/stream/TIMELINE: what the last
# closed segment does not hold yet. While it runs, PostgreSQL answers a commit when it is on both disks, so nothing that
# was acknowledged is lost with the database's volume. PGHOST, PGUSER and PGPASSWORD name a superuser.
#
# RECEIVE_ONLY=yes leaves commits alone: they do not wait for the second disk, nor stop while this program is down.
set -eu
archive="${WAL_ARCHIVE:-/archive}"
here=$(cd "$(dirname "$0")" && pwd)
until pg_isready --quiet; do sleep 1; done
. "$here/timeline.sh"
# pg_receivewal goes on from the last segment in its folder: a restored database, on a timeline of its own, takes another.
folder="$archive/stream/$timeline"
mkdir -p "$folder"
chmod 700 "$archive/stream" "$folder"
pg_receivewal --slot=spotthebot_archive --create-slot --if-not-exists
if [ "${RECEIVE_ONLY:-no}" = yes ]; then
  psql --quiet --no-psqlrc -d postgres -c "ALTER SYSTEM RESET synchronous_standby_names" -c "SELECT pg_reload_conf()" > /dev/null
else
  psql --quiet --no-psqlrc -d postgres -c "ALTER SYSTEM SET synchronous_standby_names = 'pg_receivewal'" -c "SELECT pg_reload_conf()" > /dev/null
fi
exec pg_receivewal --directory="$folder" --slot=spotthebot_archive --synchronous --status-interval=5
