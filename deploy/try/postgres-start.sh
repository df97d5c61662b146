# As the official image starts: makes the cluster once, with the password of a file, then is the server.
set -eu
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  initdb --pgdata "$PGDATA" --username postgres --encoding UTF8 --pwfile "$POSTGRES_PASSWORD_FILE" \
    --auth-local trust --auth-host scram-sha-256 > /dev/null
  echo "host all all all scram-sha-256" >> "$PGDATA/pg_hba.conf"
fi
exec "$@" -c listen_addresses='*' -c unix_socket_directories=/run/postgresql
