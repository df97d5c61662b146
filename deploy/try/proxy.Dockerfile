# Stands for the official image of Caddy where no registry is reached: Debian's package, the same command.
FROM spotthebot-try/python:bookworm
# Debian keeps no older versions to pin.
# hadolint ignore=DL3008
RUN apt-get update && apt-get install --yes --no-install-recommends caddy && rm -rf /var/lib/apt/lists/*
CMD ["caddy", "run", "--config", "/etc/caddy/Caddyfile", "--adapter", "caddyfile"]
