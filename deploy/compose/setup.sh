#!/bin/sh
# Makes what compose.yaml needs and a repository must not hold: .env, and secrets/ with one folder for each container.
# Makes what is missing and changes nothing that is there; run it again after an upgrade.
set -eu
umask 077
cd "$(dirname "$0")"

usage() {
  cat >&2 <<'END'
Usage: ./setup.sh DOMAIN [--certificate FILE --key FILE]
  DOMAIN         the public name of this server; localhost for a first look
  --certificate  PEM file of your own certificate with its chain; without one, Caddy gets one by ACME
  --key          PEM file of its private key
END
  exit 2
}

domain= certificate= key=
while [ $# -gt 0 ]; do
  case $1 in
    --certificate) certificate=${2:?$1 needs a file}; shift ;;
    --key) key=${2:?$1 needs a file}; shift ;;
    -*) usage ;;
    *) [ -z "$domain" ] || usage; domain=$1 ;;
  esac
  shift
done
[ -n "$domain" ] || [ -f .env ] || usage
[ -z "$certificate" ] || [ -n "$key" ] || usage

if [ -n "$certificate" ] && command -v openssl > /dev/null &&
  ! openssl x509 -noout -checkend 0 -in "$certificate" > /dev/null 2>&1; then
  ends=$(openssl x509 -noout -enddate -in "$certificate" 2> /dev/null | cut -d= -f2)
  if [ -n "$ends" ]; then said="holds a certificate that expired on $ends"; else said="holds no certificate"; fi
  echo "$certificate $said: give a valid one." >&2
  exit 1
fi

random_hex() { od -An -N"$1" -tx1 /dev/urandom | tr -d ' \n'; }
random_base64() { head -c 32 /dev/urandom | base64 | tr '+/' '-_'; }
# The id begins with the time, as those of all keys (RFC 9562, version 7).
api_key() { printf 'stb_%s_%012x7%s8%s_%s' "$1" "$(($(date +%s) * 1000))" "$(random_hex 2 | cut -c1-3)" \
  "$(random_hex 8 | cut -c1-15)" "$(random_base64 | tr -d '=\n')"; }

# once FILE COMMAND...: writes what the command prints to secrets/all/FILE, unless the file is there.
once() {
  file=secrets/all/$1; shift
  [ -s "$file" ] || { "$@" > "$file.new" && mv "$file.new" "$file"; }
}
# give FILE CONTAINER NAME: hands the secret to a container under the name of its setting.
give() {
  mkdir -p "secrets/$2"
  rm -f "secrets/$2/$3"
  cat "secrets/all/$1" > "secrets/$2/$3"
}
url() { printf 'postgresql://%s:%s@postgres:5432/%s' "$1" "$(random_hex 24)" spotthebot; }

mkdir -p secrets/all secrets/proxy
once postgres random_hex 24
once access_owner url spotthebot_access_owner
for schema in bots conversations annotation analytics fed; do
  once "${schema}_owner" url "spotthebot_${schema}_owner"
  once "${schema}_app" url "spotthebot_${schema}_app"
  name=$(echo "$schema" | tr '[:lower:]' '[:upper:]')
  give "${schema}_app" "$schema" "SPOTTHEBOT_${name}_DATABASE_URL"
  give "${schema}_app" provision "SPOTTHEBOT_${name}_DATABASE_URL"
  give "${schema}_owner" provision "SPOTTHEBOT_${name}_OWNER_DATABASE_URL"
  give "${schema}_owner" "${schema}-migrate" "SPOTTHEBOT_${name}_DATABASE_URL"
  once service_key api_key service
  give service_key "$schema" "SPOTTHEBOT_${name}_SERVICE_KEY"
done
for service in bots conversations annotation fed; do
  once "${service}_vault" random_base64
  give "${service}_vault" "$service" "SPOTTHEBOT_$(echo "$service" | tr '[:lower:]' '[:upper:]')_SECRETS_KEY"
done
for role in admin annotation; do
  once "${role}_key" api_key "$role"
done
once sessions random_base64
give sessions web SPOTTHEBOT_WEB_SESSIONS_KEY
give annotation_key web SPOTTHEBOT_WEB_ANNOTATION_KEY
for name in oidc_keys oidc_client_secret; do # the operator's, for the sign-in by an organisation
  [ ! -s "secrets/all/$name" ] || give "$name" web "SPOTTHEBOT_WEB_$(echo "$name" | tr '[:lower:]' '[:upper:]')"
done
give postgres postgres password
give service_key prometheus metrics_key
once grafana random_hex 12
give grafana grafana password
printf 'postgresql://postgres:%s@postgres:5432/postgres' "$(cat secrets/all/postgres)" > secrets/all/admin_url
give admin_url provision SPOTTHEBOT_DATABASE_URL
for role in admin service annotation; do
  give "${role}_key" provision "SPOTTHEBOT_$(echo "$role" | tr '[:lower:]' '[:upper:]')_KEY"
done
give access_owner provision SPOTTHEBOT_ACCESS_DATABASE_URL
give access_owner cli SPOTTHEBOT_ACCESS_DATABASE_URL
if [ -n "$certificate" ]; then
  rm -f secrets/proxy/*.pem
  cat "$certificate" > secrets/proxy/certificate.pem
  cat "$key" > secrets/proxy/key.pem
fi
# Containers run under accounts of their own and see no folder but theirs; on this machine secrets/ itself is closed.
for folder in secrets/*/; do
  [ "$folder" = secrets/all/ ] || { chmod 755 "$folder" && find "$folder" -type f -exec chmod 444 {} +; }
done

# What this script wrote is written again, and what the operator added stays.
ours='^(DOMAIN|PUBLIC_URL)=|^HTTPS?_PORT=127\.0\.0\.1:(80|443)$|^TLS=tls /run/secrets/certificate\.pem '
kept=$([ ! -f .env ] || grep -v -E "$ours" .env || true)
value_of() { printf '%s\n' "$kept" | sed -n "s/^$1=//p"; }
[ -n "$domain" ] || domain=$(sed -n 's/^DOMAIN=//p' .env)
https=$(value_of HTTPS_PORT)
port=${https##*:}
[ "$port" != 443 ] || port=
{
  echo "DOMAIN=$domain"
  echo "PUBLIC_URL=https://$domain${port:+:$port}"
  if [ "$domain" = localhost ]; then # for this machine alone
    [ -n "$(value_of HTTP_PORT)" ] || echo "HTTP_PORT=127.0.0.1:80"
    [ -n "$https" ] || echo "HTTPS_PORT=127.0.0.1:443"
  fi
  if [ -f secrets/proxy/certificate.pem ] && [ -z "$(value_of TLS)" ]; then
    echo "TLS=tls /run/secrets/certificate.pem /run/secrets/key.pem"
  fi
  [ -z "$kept" ] || printf '%s\n' "$kept"
} > .env.new
mv .env.new .env
echo "Ready: docker compose up --build --detach   (the administrator's API key is in secrets/all/admin_key)"
