# What images are built with: the base, pip, and this machine's certificates and wheels, which no image holds.
FROM spotthebot-try/python:bookworm
COPY ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
# Debian keeps no older versions to pin.
# hadolint ignore=DL3008
RUN apt-get update && apt-get install --yes --no-install-recommends binutils python3-venv && rm -rf /var/lib/apt/lists/*
COPY wheels /machine-wheels
