# One recipe for every service:
#   docker build -f docker/service.Dockerfile --build-arg SERVICE=bots -t spotthebot-bots .
# A container serves; `docker run ... spotthebot-bots migrate` brings the service's schema up to date, `work` runs its
# worker where it has one. Settings come from the environment, see docs/settings.md.
# The base by digest, of all platforms; for another one: docker buildx imagetools inspect python:3.12-slim-bookworm
ARG PYTHON_IMAGE=python:3.12.14-slim-bookworm@sha256:782412e85d0f0984994c290652577d4018aff08145c85b262bb63dc0c7522254

FROM ${PYTHON_IMAGE} AS build
ARG SERVICE
WORKDIR /source
# The dependencies change less often than the sources, so they are a layer of their own.
COPY requirements.txt ./
RUN test -n "${SERVICE}" \
    && python -m venv /opt/spotthebot \
    && grep -E '# .*\bbuild\b' requirements.txt > build.txt \
    && grep -E "# .*\b${SERVICE}\b" requirements.txt > service.txt \
    && /opt/spotthebot/bin/pip install --no-cache-dir --require-hashes -r build.txt \
    && /opt/spotthebot/bin/pip install --no-cache-dir --require-hashes --no-build-isolation -r service.txt
COPY pyproject.toml README.md LICENSE ./
COPY services services
COPY shared shared
RUN /opt/spotthebot/bin/pip install --no-cache-dir --no-deps --no-build-isolation .

FROM ${PYTHON_IMAGE}
ARG SERVICE
RUN useradd --uid 10001 --create-home --shell /usr/sbin/nologin spotthebot
COPY --from=build /opt/spotthebot /opt/spotthebot
USER 10001
WORKDIR /home/spotthebot
ENV PATH=/opt/spotthebot/bin:$PATH PYTHONUNBUFFERED=1 SERVICE=${SERVICE}
EXPOSE 8000
HEALTHCHECK --start-period=30s CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8000/readyz', timeout=5)"]
# The shell gives way to Python, which so gets the signals itself.
ENTRYPOINT ["/bin/sh", "-c", "exec python -m \"spotthebot.$SERVICE\" \"$@\"", "spotthebot"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8000"]
