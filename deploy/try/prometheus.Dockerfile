# Stands for the official image of Prometheus where no registry is reached: Debian's package, the same way to start.
FROM spotthebot-try/python:bookworm
# Debian keeps no older versions to pin.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends prometheus \
    && rm -rf /var/lib/apt/lists/* \
    && install -d -o nobody -g nogroup /prometheus
# hadolint ignore=DL3066
USER nobody
ENTRYPOINT ["/usr/bin/prometheus"]
