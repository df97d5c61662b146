#!/bin/sh
# PostgreSQL's archive_command: archive-wal.sh PATH NAME copies a finished segment into $WAL_ARCHIVE/wal.
# It ends with 0 only when the copy is whole and on disk; PostgreSQL keeps the segment and tries again until then.
set -eu
folder="${WAL_ARCHIVE:-/archive}/wal"
mkdir -p "$folder"
if [ -e "$folder/$2" ]; then
  # PostgreSQL asks again for what it archived just before a crash. Other content under the same name is another
  # database's: it is never overwritten.
  cmp -s "$1" "$folder/$2" && exit 0
  echo "archive-wal.sh: $folder/$2 holds something else: is this the archive of another database?" >&2
  exit 1
fi
cp "$1" "$folder/.$2.unfinished"
sync "$folder/.$2.unfinished"
mv "$folder/.$2.unfinished" "$folder/$2"
sync "$folder"
