#!/bin/sh
# Copies the whole database while it runs, to $WAL_ARCHIVE/base/TIME: restoring begins with such a copy. Run it once
# after the first start, then each night. It keeps the last $KEEP of them (2) and the changes since the oldest.
# PGHOST, PGUSER and PGPASSWORD name a superuser.
set -eu
archive="${WAL_ARCHIVE:-/archive}"
keep="${KEEP:-2}"
case "$keep" in '' | *[!0-9]* | 0) echo "base-backup.sh: KEEP is a number of backups, 1 or more, and not '$keep'." >&2; exit 2 ;; esac
mkdir -p "$archive/base"
chmod 700 "$archive/base"
unfinished="$archive/base/.unfinished"
rm -rf "$unfinished"
pg_basebackup --pgdata="$unfinished" --format=tar --gzip --wal-method=stream --checkpoint=fast --no-password
sync
made="$archive/base/$(date -u +%Y%m%dT%H%M%SZ)"
mv "$unfinished" "$made"
sync "$archive/base"
echo "base-backup.sh: $made ($(du -sh "$made" | cut -f1))"

ls -1d "$archive"/base/[0-9]* | head -n "-$keep" | while read -r old; do rm -rf "$old"; done
oldest=$(ls -1d "$archive"/base/[0-9]* | head -n 1)
# The label of a base backup is a file in it: START WAL LOCATION: 0/2000028 (file 000000010000000000000002)
first=$(gzip -dc "$oldest/base.tar.gz" | tar -xO -f - backup_label | sed -n 's/^START WAL LOCATION:.*(file \([0-9A-F]*\))$/\1/p')
if [ -d "$archive/wal" ]; then pg_archivecleanup "$archive/wal" "$first"; fi
if [ -d "$archive/stream" ]; then pg_archivecleanup "$archive/stream" "$first"; fi
