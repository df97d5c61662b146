# For other scripts, with $archive and a server that runs: finds the database's $timeline (such as 00000002), and notes
# in $archive/timelines since when the database is on it. Each restored database begins a timeline; restore.sh reads there
# which one was in use at a time, so that one that was abandoned, or begun from an earlier time, doesn't hide another.
note=$(psql --quiet --no-psqlrc -At -F ' ' -d postgres -c "SELECT
  to_char(pg_postmaster_start_time() AT TIME ZONE 'UTC', 'YYYYMMDD\"T\"HH24MISS.US'),
  left(pg_walfile_name(pg_current_wal_lsn()), 8)")
timeline=${note#* }
if [ "$(tail -n 1 "$archive/timelines" 2> /dev/null | cut -d ' ' -f 2)" != "$timeline" ]; then
  echo "$note" >> "$archive/timelines"
  sync "$archive/timelines"
fi
