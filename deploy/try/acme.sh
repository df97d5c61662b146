#!/usr/bin/env bash
# The proxy gets its certificate by ACME, from Let's Encrypt's own test server (Pebble, of Debian): the server asks for the
# domain on port 80 or 443 of this machine, as the real one would, and its certificate is verified from outside.
#
# Run by try.sh against the containers that `engine.sh compose` started; the proxy is at another domain afterwards.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
home=${TRY_HOME:-/var/tmp/spotthebot-try}
engine=${here}/engine.sh
domain=spotthebot.test
folder=${home}/acme
mkdir -p "${folder}"

fail() { echo "deploy/try: $*" >&2; exit 1; }

for program in pebble curl openssl; do
  command -v "${program}" > /dev/null ||
    apt-get install --yes --no-install-recommends "${program}" > "${folder}/install.log" 2>&1 ||
    fail "${program} can't be installed: see ${folder}/install.log."
done
gateway=$("${engine}" docker network inspect --format '{{(index .IPAM.Config 0).Gateway}}' try_services)

openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=pebble -addext "subjectAltName=IP:${gateway},IP:127.0.0.1" \
  -keyout "${folder}/key.pem" -out "${folder}/pebble.pem" 2> /dev/null
cat > "${folder}/pebble.json" <<END
{"pebble": {"listenAddress": "${gateway}:14000", "managementListenAddress": "127.0.0.1:15000", "httpPort": 80, "tlsPort": 443,
  "certificate": "${folder}/pebble.pem", "privateKey": "${folder}/key.pem", "ocspResponderURL": ""}}
END
trap 'kill $(jobs -p) 2> /dev/null || true' EXIT
pebble-challtestsrv -defaultIPv4 127.0.0.1 -defaultIPv6 "" -dns01 127.0.0.1:8053 -http01 "" -https01 "" -tlsalpn01 "" \
  -management 127.0.0.1:8055 > "${folder}/dns.log" 2>&1 &
pebble -config "${folder}/pebble.json" -dnsserver 127.0.0.1:8053 > "${folder}/pebble.log" 2>&1 &

compose=${home}/compose
sed "s#^\tadmin off#&\n\tacme_ca https://${gateway}:14000/dir\n\tacme_ca_root /run/secrets/pebble.pem#" "${compose}/Caddyfile" \
  > "${compose}/Caddyfile.acme"
cp "${folder}/pebble.pem" "${compose}/secrets/proxy/pebble.pem"
cat > "${compose}/compose.acme.yaml" <<'END'
services:
  proxy:
    volumes: ["./Caddyfile.acme:/etc/caddy/Caddyfile:ro"]
END
DOMAIN=${domain} "${engine}" compose -f compose.yaml -f compose.acme.yaml up --detach --no-deps proxy > "${folder}/up.log" 2>&1

began=${SECONDS}
until curl --silent --fail --insecure https://127.0.0.1:15000/roots/0 --output "${folder}/root.pem" &&
  curl --silent --fail --cacert "${folder}/root.pem" --resolve "${domain}:443:127.0.0.1" "https://${domain}/bots/healthz" \
    > /dev/null; do
  [ $((SECONDS - began)) -lt 120 ] || fail "no certificate after 120 s: see ${folder} and engine.sh compose logs proxy."
  sleep 1
done
issuer=$(openssl s_client -connect 127.0.0.1:443 -servername "${domain}" < /dev/null 2> /dev/null | openssl x509 -noout -issuer)
[[ ${issuer} = *Pebble* ]] || fail "the certificate is not of ${domain}'s server: ${issuer}"
echo "| a certificate by ACME | $((SECONDS - began)) s | verified from outside; ${issuer#issuer=} |"
