# Stands for the official image of PostgreSQL where no registry is reached: Debian's packages, the same way to start.
FROM spotthebot-try/python:bookworm
# Debian keeps no older versions to pin.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends postgresql-15 \
    && rm -rf /var/lib/apt/lists/* /var/lib/postgresql/15 \
    && chmod 3777 /run/postgresql \
    && install -d -o postgres -g postgres -m 700 /var/lib/postgresql/data
ENV PATH=/usr/lib/postgresql/15/bin:$PATH PGDATA=/var/lib/postgresql/data
COPY postgres-start.sh /usr/local/bin/postgres-start.sh
# hadolint ignore=DL3066
USER postgres
ENTRYPOINT ["/bin/sh", "/usr/local/bin/postgres-start.sh"]
CMD ["postgres"]
