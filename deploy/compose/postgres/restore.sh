#!/bin/sh
# Makes a database of $WAL_ARCHIVE in the empty folder $PGDATA: restore.sh [TIME]. Without TIME it has every change that
# was written down, with TIME ('2026-11-23 14:05:00+00') the changes up to then. It only reads the archive. PostgreSQL
# must not run in $PGDATA, and this runs as its user. Start PostgreSQL afterwards: it reads the changes, and serves when
# it is done.
set -eu
export LC_ALL=C # times and places in the log are compared as text
archive="${WAL_ARCHIVE:-/archive}"
target="${1:-}"
fail() { echo "restore.sh: $1" >&2; exit 1; }
[ -n "${PGDATA:-}" ] || fail "set PGDATA to the database's folder."
mkdir -p "$PGDATA"
[ -z "$(ls -A "$PGDATA")" ] || fail "$PGDATA is not empty: move what is there away, or take another folder."
latest=9
if [ -n "$target" ]; then
  latest=$(date -u -d "$target" +%Y%m%dT%H%M%S.%6N) || fail "'$target' is no time such as '2026-11-23 14:05:00+00'."
fi
first=$(ls -1 "$archive/base" 2> /dev/null | head -n 1)
[ -n "$first" ] || fail "there is no base backup in $archive/base: restore one of './stb backup' instead."

# The timeline that the database was on at that time (timeline.sh), and those that it came from with the place where it
# left each: lines such as '1 0/5000148' of its history.
timeline=$(awk -v latest="$latest" 'NR == 1 || $1 <= latest { found = $2 } END { print found }' "$archive/timelines" 2> /dev/null || true)
number=latest # for an archive without notes
[ -z "$timeline" ] || number=$((0x$timeline))
history=$(cat "$archive/wal/$timeline.history" "$archive"/stream/*/"$timeline.history" 2> /dev/null || true)

# Whether a base backup lies on that timeline's way: it is of the timeline, or of one before and ended before it was left.
fits() {
  [ -n "$timeline" ] || return 0
  printf '%s\n%s\n' "$history" "$(grep '"End-LSN"' "$1/backup_manifest")" | tr -d '",{}' | awk -v timeline="$number" '
    function place(lsn, halves) { split(lsn, halves, "/"); return sprintf("%8s%8s", halves[1], halves[2]) }
    $1 == "Timeline:" { fit = $2 == timeline || ($2 in left && place($6) <= left[$2]) }
    $1 ~ /^[0-9]+$/ { left[$1] = place($2) }
    END { exit !fit }'
}

base=""
for each in "$archive"/base/[0-9]*; do
  name=$(basename "$each")
  [ "$(printf '%s\n%s\n' "$name" "${latest%.*}Z" | sort | head -n 1)" = "$name" ] || continue
  if fits "$each"; then base="$each"; fi
done
[ -n "$base" ] || fail "there is no base backup from before ${target:-the last change}: the first is $first."

chmod 700 "$PGDATA"
gzip -dc "$base/base.tar.gz" | tar -x -f - -C "$PGDATA"
gzip -dc "$base/pg_wal.tar.gz" | tar -x -f - -C "$PGDATA/pg_wal"
cp "$base/backup_manifest" "$PGDATA/backup_manifest"
pg_verifybackup --exit-on-error --quiet "$PGDATA" || fail "$base is damaged: move it away and try again with the one before."

# A segment that was being written when the database was lost is as long as any other, with nothing behind the last change.
places="\"$archive\"/stream/*/%f \"$archive/wal/%f\" \"$archive\"/stream/*/%f.partial"
{
  echo "restore_command = 'for each in $places; do if [ -s \"\$each\" ]; then exec cp \"\$each\" \"%p\"; fi; done; exit 1'"
  echo "recovery_target_action = 'promote'"
  echo "recovery_target_timeline = '$number'"
  echo "synchronous_standby_names = ''"
  echo "recovery_target_time = '$target'"
  echo "hot_standby = off" # nobody is let in before all changes are back
} >> "$PGDATA/postgresql.auto.conf"
: > "$PGDATA/recovery.signal"
echo "restore.sh: $PGDATA is ready from $base: start PostgreSQL, then receive-wal.sh, then base-backup.sh."
