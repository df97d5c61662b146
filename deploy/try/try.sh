#!/usr/bin/env bash
# Everything on an engine of its own, from nothing, and nothing left behind:
#
#   try.sh           images, up, the demonstration, every container killed twice, the database lost and
#                    restored, the archive's disk full, two containers that hang, down and up with the
#                    data kept, a certificate by ACME
#   try.sh part      what CI runs: one image built, the database prepared and migrated, the service healthy
#
# --keep leaves the engine running (engine.sh stop ends it). On a machine where no engine can run, says why and exits with 3.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "${here}/../.." && pwd)
export TRY_HOME=${TRY_HOME:-/var/tmp/spotthebot-try}
engine=${here}/engine.sh
what=all
for word; do
  case ${word} in
    part) what=part ;;
    --keep) keep=yes ;;
    *) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"; exit 2 ;;
  esac
done
[ -n "${keep:-}" ] || trap '"${engine}" stop' EXIT
python=${root}/.venv/bin/python
secrets=${TRY_HOME}/compose/secrets/all

step() {
  local name=$1 began=${SECONDS}
  shift
  "$@"
  echo "| ${name} | $((SECONDS - began)) s |"
}

# await CONTAINER...: until each is healthy, ten minutes at most.
await() {
  local name
  for name; do
    for _ in $(seq 300); do
      [ "$("${engine}" docker inspect --format '{{.State.Health.Status}}' "try_${name}_1" 2> /dev/null)" != healthy ] || continue 2
      sleep 2
    done
    "${engine}" compose logs --tail 20 "${name}" >&2
    echo "deploy/try: ${name} is not healthy." >&2
    exit 1
  done
}

# As a person would, from outside, with the certificate that the proxy signed.
stb() {
  "${engine}" docker cp try_proxy_1:/data/caddy/pki/authorities/local/root.crt "${TRY_HOME}/root.crt" > /dev/null
  SSL_CERT_FILE=${TRY_HOME}/root.crt SPOTTHEBOT_URL=https://localhost SPOTTHEBOT_KEY=$(cat "${secrets}/admin_key") \
    SPOTTHEBOT_FRONTEND_KEY=$(cat "${secrets}/annotation_key") PYTHONPATH=${root}/services:${root}/shared:${root} "${python}" "$@"
}

services=(wal-receiver base-backups bots conversations conversations-worker annotation annotation-worker analytics analytics-worker fed fed-worker web)
up() { "${engine}" compose up --detach > "${TRY_HOME}/up.log" 2>&1 && await "${services[@]}"; }
down() { "${engine}" compose down > "${TRY_HOME}/down.log" 2>&1; }
ranked() { stb -m spotthebot.cli rank demo --json -; }

part() {
  export TRY_STANDINS=postgres
  step "engine and base images" "${engine}" start
  step "images of annotation and cli" "${engine}" build annotation cli
  step "database, migrations, service and worker healthy" part_up
}
part_up() {
  "${engine}" compose up --detach annotation annotation-worker > "${TRY_HOME}/up.log" 2>&1
  await annotation annotation-worker
}

# A disk for the archive, small enough to be filled.
archive_disk() {
  export ARCHIVE=${TRY_HOME}/archive
  mkdir -p "${ARCHIVE}"
  mount -t tmpfs -o size=2g,mode=755 spotthebot-archive "${ARCHIVE}"
}

all() {
  [ -x "${python}" ] || { echo "deploy/try: ./stb install makes .venv, with which it is looked at from outside." >&2; exit 3; }
  step "engine and base images" "${engine}" start
  step "images" "${engine}" build
  archive_disk
  "${engine}" compose config --quiet
  grep -q OPERATOR_NETWORKS "${TRY_HOME}/compose/.env" ||
    echo 'OPERATOR_NETWORKS=["172.16.0.0/12", "192.168.0.0/16"]' >> "${TRY_HOME}/compose/.env"
  step "up from nothing" up
  step "./stb demo --url" stb -m spotthebot.cli demo
  stb "${here}/kill_containers.py"
  stb "${here}/hang_containers.py"
  ranked > "${TRY_HOME}/before.json"
  step "down" down
  step "up again" up
  ranked > "${TRY_HOME}/after.json"
  cmp "${TRY_HOME}/before.json" "${TRY_HOME}/after.json" && echo "The ranking is the same after down and up."
  "${here}/acme.sh"
}

"${what}"
