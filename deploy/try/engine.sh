#!/usr/bin/env bash
# An engine of its own, with the images that no registry gives here:
#
#   engine.sh start           installs what is missing, starts dockerd, makes the base images
#   engine.sh build NAME...   builds images: services of the suite, cli; without a name, all
#   engine.sh docker ...      the client (docker ps, docker logs ...)
#   engine.sh compose ...     docker-compose with these images, in a copy of deploy/compose
#   engine.sh stop            ends the engine and removes everything that it wrote
#
# Nothing of it touches another engine: its data, socket and pid file are in TRY_HOME.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "${here}/../.." && pwd)
home=${TRY_HOME:-/var/tmp/spotthebot-try}
services=(bots conversations annotation analytics fed web)
export DOCKER_HOST=unix://${home}/docker.sock DOCKER_BUILDKIT=1 DOCKER_CONFIG=${home}/client
export SOURCE_DATE_EPOCH=1763856000
PATH=/usr/sbin:/usr/bin:/sbin:/bin:${PATH}

say() { echo "$(date -u +%H:%M:%S) $*"; }
refuse() { echo "deploy/try: $*" >&2; exit 3; }

install_missing() {
  [ "$(uname -s)-$(id -u)" = Linux-0 ] || refuse "an engine needs Linux and root (here: $(uname -s), account $(id -un))."
  local missing=()
  for pair in dockerd:docker.io docker:docker.io docker-compose:docker-compose mmdebstrap:mmdebstrap docker-init:tini; do
    [ -x "/usr/bin/${pair%%:*}" ] || [ -x "/usr/sbin/${pair%%:*}" ] || missing+=("${pair##*:}")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  command -v apt-get > /dev/null || refuse "install ${missing[*]}: this machine has no apt-get to do it with."
  say "Installing ${missing[*]}"
  (apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "${missing[@]}") \
    > "${home}/install.log" 2>&1 || refuse "${missing[*]} can't be installed: see ${home}/install.log."
}

is_up() { docker info > /dev/null 2>&1; }

start_daemon() {
  local free
  free=$(df --output=avail -BG "${home}" | tail -1 | tr -dc 0-9)
  [ "${free}" -ge "${TRY_GIB:-12}" ] || refuse "${home} has ${free} GiB free, and ${TRY_GIB:-12} are needed."
  for driver in overlay2 vfs; do
    say "Starting dockerd (${driver})"
    nohup dockerd --data-root "${home}/data" --exec-root "${home}/exec" --host "${DOCKER_HOST}" --pidfile "${home}/docker.pid" \
      --storage-driver "${driver}" > "${home}/dockerd.log" 2>&1 &
    for _ in $(seq 60); do
      ! is_up || return 0
      kill -0 $! 2> /dev/null || break
      sleep 0.5
    done
    stop_daemon
    rm -rf "${home}/data"
  done
  refuse "dockerd does not start here: $(grep -v level=info "${home}/dockerd.log" | tail -1)"
}

stop_daemon() {
  local pid
  pid=$(cat "${home}/docker.pid" 2> /dev/null) || return 0
  kill "${pid}" 2> /dev/null || return 0
  for _ in $(seq 60); do
    kill -0 "${pid}" 2> /dev/null || return 0
    sleep 0.5
  done
  kill -9 "${pid}" 2> /dev/null || true
}

# pip's settings for the build alone: a secret is in no layer.
write_pip_settings() {
  {
    python3 "${here}/pip_settings.py"
    # Certificates and wheels of this machine are in the image that builds.
    echo "cert = /etc/ssl/certs/ca-certificates.crt"
    echo "find-links = /machine-wheels"
  } > "${home}/pip.conf"
}

# Without an index no image can be built, whatever its recipe says.
check_index() {
  local hatchling
  hatchling=$(grep -oE '^hatchling==[0-9.]+' "${root}/requirements.txt")
  printf 'FROM spotthebot-try/build\nRUN --mount=type=secret,id=pip,target=/etc/pip.conf %s\n' \
    "python3 -m venv /tmp/pip && /tmp/pip/bin/pip download --quiet --no-deps --dest /tmp ${hatchling}" |
    docker build --progress plain --no-cache --network host --secret "id=pip,src=${home}/pip.conf" - > "${home}/index.log" 2>&1 ||
    refuse "no build can fetch packages with this machine's settings of pip: $(grep -E '^#[0-9]+ [0-9.]+ ' "${home}/index.log" | tail -1)"
}

# make_base NAME DOCKERFILE FOLDER: what it is made of is Debian's packages and this machine's files, nothing of the suite's.
make_base() {
  docker build --progress plain --network host --tag "spotthebot-try/$1" --file "${here}/$2" "$3" > "${home}/base-$1.log" 2>&1 ||
    refuse "the base image $1 can't be made with this machine's settings: $(grep -E '^#[0-9]+ [0-9.]+ ' "${home}/base-$1.log" | tail -1)"
}

make_bases() {
  docker image inspect spotthebot-try/proxy > /dev/null 2>&1 && return 0
  say "Making the base image of Debian's packages"
  mmdebstrap --quiet --variant=apt --include=python3,ca-certificates,usr-is-merged \
    --hook-dir=/usr/share/mmdebstrap/hooks/maybe-merged-usr --dpkgopt='path-exclude=/usr/share/doc/*' \
    --dpkgopt='path-include=/usr/share/doc/*/copyright' --dpkgopt='path-exclude=/usr/share/man/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' bookworm "${home}/base.tar" > "${home}/base.log" 2>&1 ||
    refuse "Debian's packages can't be fetched: $(tail -1 "${home}/base.log")"
  docker import --change 'CMD ["bash"]' "${home}/base.tar" spotthebot-try/python:bookworm > /dev/null
  rm "${home}/base.tar"
  # The machine's certificates and wheels are for building alone: images stand on the base.
  mkdir -p "${home}/build/wheels"
  local folder
  for folder in $(python3 "${here}/pip_settings.py" --folders); do
    [ ! -d "${folder}" ] || find "${folder}" -name '*.whl' -exec cp {} "${home}/build/wheels/" ';'
  done
  cp /etc/ssl/certs/ca-certificates.crt "${home}/build/"
  make_base build build.Dockerfile "${home}/build"
  for name in ${TRY_STANDINS-postgres prometheus proxy}; do
    say "Making the stand-in for the image of ${name}"
    make_base "${name}" "${name}.Dockerfile" "${here}"
  done
}

build() {
  local name=$1
  say "Building ${name}"
  docker build --progress plain --network host --file "${root}/docker/service.Dockerfile" \
    --build-arg PYTHON_IMAGE=spotthebot-try/python:bookworm --build-arg BUILD_IMAGE=spotthebot-try/build \
    --build-arg TORCH="${TORCH:-cpu}" --build-arg TORCH_INDEX="${TORCH_INDEX:-}" --build-arg "SERVICE=${name}" \
    --secret "id=pip,src=${home}/pip.conf" --tag "spotthebot-${name}" "${root}" > "${home}/build-${name}.log" 2>&1 ||
    {
      echo "deploy/try: the image of ${name} can't be built:" >&2
      grep -E '^#[0-9]+ [0-9.]+ ' "${home}/build-${name}.log" | tail -5 >&2
      return 1
    }
}

start() {
  mkdir -p "${home}/client"
  install_missing
  is_up || start_daemon
  write_pip_settings
  make_bases
  check_index
}

stop() {
  if is_up; then
    docker ps --quiet --all | xargs --no-run-if-empty docker rm --force > /dev/null
    docker network prune --force > /dev/null
  fi
  stop_daemon
  # The bridge of an engine stays behind; where another runs, it is that one's.
  pgrep -x dockerd > /dev/null || ip link delete docker0 2> /dev/null || true
  umount "${home}"/exec/netns/* 2> /dev/null || true
  umount "${home}/archive" 2> /dev/null || true
  rm -rf "${home}"
}

command=${1:-}
[ $# -eq 0 ] || shift
case ${command} in
  start) start ;;
  build) [ $# -gt 0 ] || set -- "${services[@]}" cli; for name; do build "${name}"; done ;;
  docker) exec docker "$@" ;;
  compose)
    mkdir -p "${home}/compose"
    cp -r "${root}/deploy/compose/." "${home}/compose/"
    cp -r "${root}/deploy/observe" "${home}/"
    cd "${home}/compose"
    [ -f .env ] || ./setup.sh localhost > /dev/null
    export POSTGRES_IMAGE=spotthebot-try/postgres PROXY_IMAGE=spotthebot-try/proxy PROMETHEUS_IMAGE=spotthebot-try/prometheus
    export COMPOSE_PROJECT_NAME=try
    exec docker-compose "$@"
    ;;
  stop) stop ;;
  *) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"; exit 2 ;;
esac
