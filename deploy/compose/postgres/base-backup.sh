#!/bin/sh
# Copies the whole database while it runs, to $WAL_ARCHIVE/base/TIME: restoring begins with such a copy. Run it once
# after the first start, then each night. It keeps all of the last $KEEP_DAYS days (7), the last $KEEP (1) of those before,
# and the changes since: only age removes a backup, never how many were made since. PGHOST, PGUSER and PGPASSWORD name a
# superuser.
set -eu
archive="${WAL_ARCHIVE:-/archive}"
keep="${KEEP:-1}"
days="${KEEP_DAYS:-7}"
for each in "$keep" "$days"; do
  case "$each" in *[!0-9]* | 0) echo "base-backup.sh: KEEP and KEEP_DAYS are numbers, 1 or more, and not '$each'." >&2; exit 2 ;; esac
done
here=$(cd "$(dirname "$0")" && pwd)
. "$here/timeline.sh"
mkdir -p "$archive/base"
chmod 700 "$archive/base"
unfinished="$archive/base/.unfinished"
rm -rf "$unfinished"
pg_basebackup --pgdata="$unfinished" --format=tar --gzip --wal-method=stream --checkpoint=fast --no-password
sync
made="$archive/base/$(date -u +%Y%m%dT%H%M%SZ)"
mv -T "$unfinished" "$made"
sync "$archive/base"
echo "base-backup.sh: $made ($(du -sh "$made" | cut -f1))"

young=$(date -u -d "$days days ago" +%Y%m%dT%H%M%SZ)
ls -1 "$archive/base" | awk -v young="$young" '/^[0-9]/ && $0 < young' | head -n "-$keep" | while read -r old; do rm -rf "${archive:?}/base/$old"; done
# The label of a base backup is a file in it: START WAL LOCATION: 0/2000028 (file 000000010000000000000002). A later
# backup may need earlier changes, after a restore to an earlier time: the names count from their ninth letter on.
first=$(for each in "$archive"/base/[0-9]*; do
  gzip -dc "$each/base.tar.gz" | tar -xO --occurrence=1 -f - backup_label | sed -n 's/^START WAL LOCATION:.*(file \([0-9A-F]*\))$/\1/p'
done | sort -k 1.9 | head -n 1)
for each in "$archive/wal" "$archive"/stream/*; do
  if [ -d "$each" ]; then pg_archivecleanup "$each" "$first"; fi
done
