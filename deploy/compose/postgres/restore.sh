#!/bin/sh
# Makes a database of $WAL_ARCHIVE in the empty folder $PGDATA: restore.sh [TIME]. Without TIME it has every change that
# was written down, with TIME ('2026-11-23 14:05:00+00') the changes up to then. PostgreSQL must not run, and this
# runs as its user. Start PostgreSQL afterwards: it reads the changes, and serves when it is done.
set -eu
archive="${WAL_ARCHIVE:-/archive}"
here=$(cd "$(dirname "$0")" && pwd)
target="${1:-}"
fail() { echo "restore.sh: $1" >&2; exit 1; }
[ -n "${PGDATA:-}" ] || fail "set PGDATA to the database's folder."
mkdir -p "$PGDATA"
[ -z "$(ls -A "$PGDATA")" ] || fail "$PGDATA is not empty: move what is there away, or take another folder."
[ -d "$archive/base" ] || fail "there is no base backup in $archive/base: restore one of './stb backup' instead."

base=""
if [ -n "$target" ]; then
  latest=$(date -u -d "$target" +%Y%m%dT%H%M%SZ) || fail "'$target' is no time such as '2026-11-23 14:05:00+00'."
  for each in "$archive"/base/[0-9]*; do
    name=$(basename "$each")
    if [ "$(printf '%s\n%s\n' "$name" "$latest" | sort | head -n 1)" = "$name" ]; then base="$each"; fi
  done
  [ -n "$base" ] || fail "there is no base backup from before $target: the first is $(ls -1 "$archive/base" | head -n 1)."
else
  for each in "$archive"/base/[0-9]*; do [ -d "$each" ] && base="$each"; done
  [ -n "$base" ] || fail "there is no base backup in $archive/base: restore one of './stb backup' instead."
fi

chmod 700 "$PGDATA"
gzip -dc "$base/base.tar.gz" | tar -x -f - -C "$PGDATA"
gzip -dc "$base/pg_wal.tar.gz" | tar -x -f - -C "$PGDATA/pg_wal"
cp "$base/backup_manifest" "$PGDATA/backup_manifest"
pg_verifybackup --exit-on-error --quiet "$PGDATA" || fail "$base is damaged: move it away and try again with the one before."

# The stream becomes part of the archive: the restored database begins another one. The segment that was being written
# is as long as any other, with nothing behind the last change.
mkdir -p "$archive/wal"
for each in "$archive"/stream/*; do
  [ -f "$each" ] || continue
  segment=$(basename "$each" .partial)
  if [ ! -e "$archive/wal/$segment" ]; then
    cp "$each" "$archive/wal/.$segment.unfinished"
    sync "$archive/wal/.$segment.unfinished"
    mv "$archive/wal/.$segment.unfinished" "$archive/wal/$segment"
  fi
  rm "$each"
done

{
  echo "restore_command = 'cp \"$archive/wal/%f\" \"%p\"'"
  echo "recovery_target_action = 'promote'"
  echo "recovery_target_timeline = 'latest'"
  echo "synchronous_standby_names = ''"
  echo "recovery_target_time = '$target'"
  echo "hot_standby = off" # nobody is let in before all changes are back
} >> "$PGDATA/postgresql.auto.conf"
: > "$PGDATA/recovery.signal"
: > "$archive/base/.due" # for base-backups.sh: the next restore begins after this one
echo "restore.sh: $PGDATA is ready from $base: start PostgreSQL, then receive-wal.sh, then base-backup.sh."
