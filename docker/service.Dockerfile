# One recipe for every service, and for the command line:
#   docker build -f docker/service.Dockerfile --build-arg SERVICE=annotation -t spotthebot-annotation .
# See docker/README.md: arguments, sizes, how a machine without PyPI builds. Settings of a container: docs/settings.md.
# The base by digest, of all platforms; for another one: docker buildx imagetools inspect python:3.12-slim-bookworm
ARG PYTHON_IMAGE=python:3.12.14-slim-bookworm@sha256:782412e85d0f0984994c290652577d4018aff08145c85b262bb63dc0c7522254
# Where packages are built, on the same Python; nothing of it but what is made stays.
ARG BUILD_IMAGE=${PYTHON_IMAGE}

FROM ${BUILD_IMAGE} AS build
# A service, or `cli` for the command line; the part of requirements.txt that it needs.
ARG SERVICE
ARG PART=${SERVICE}
# For `bots` and `fed`: which build of torch (cpu, cu130, ...), `none` for an image that runs no model itself.
ARG TORCH=cpu
ARG TORCH_INDEX=https://download.pytorch.org/whl
# Time of every file in the image, so that the same sources make the same layers.
ARG SOURCE_DATE_EPOCH=1763856000
ENV PYTHONDONTWRITEBYTECODE=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
WORKDIR /source
SHELL ["/bin/bash", "-o", "pipefail", "-c"]
# What takes symbols out of compiled modules; Debian keeps no older versions to pin.
# hadolint ignore=DL3008
RUN command -v strip > /dev/null \
    || (apt-get update && apt-get install --yes --no-install-recommends binutils && rm -rf /var/lib/apt/lists/*)
# The dependencies change less often than the sources, so they are a layer of their own.
COPY requirements.txt constraints.txt pyproject.toml docker/packages.sh ./
RUN --mount=type=secret,id=pip,target=/etc/pip.conf bash packages.sh
COPY README.md LICENSE docker/root.sh docker/loadable.py docker/sbom.py docker/health.py ./
COPY services services
COPY shared shared
RUN --mount=type=secret,id=pip,target=/etc/pip.conf bash root.sh

FROM ${PYTHON_IMAGE}
ARG SERVICE
ARG VERSION=0.2.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Spot The Bot: ${SERVICE}" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.description="One service of a suite that evaluates chatbots; /sbom.cdx.json lists its packages"
# Debian's Python has no pip; that of python.org's image has, beside the service's own packages.
RUN rm -rf /usr/local/lib/python3*/site-packages /usr/local/lib/python3*/ensurepip /usr/local/bin/pip*
COPY --from=build /image/ /
USER 10001:10001
WORKDIR /var/lib/spotthebot
# The folders of volumes are no packages: Triton's would be taken for the module that torch looks for.
ENV PATH=/opt/spotthebot/bin:$PATH PYTHONSAFEPATH=1 PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 HOME=/tmp SERVICE=${SERVICE}
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=8s --start-period=60s CMD ["python", "-I", "/opt/spotthebot/health.py"]
# The shell gives way to Python, which so gets the signals itself.
ENTRYPOINT ["/bin/sh", "-c", "exec python -m \"spotthebot.$SERVICE\" \"$@\"", "spotthebot"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8000"]
