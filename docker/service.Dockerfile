# One recipe for every service:
#   docker build -f docker/service.Dockerfile --build-arg SERVICE=bots -t spotthebot-bots .
# A container serves; `docker run ... spotthebot-bots migrate` brings the service's schema up to date, `work` runs its
# worker where it has one. Settings come from the environment, see docs/settings.md.
ARG PYTHON=3.12

FROM python:${PYTHON}-slim AS build
ARG SERVICE
WORKDIR /source
# The dependencies change less often than the sources, so they are a layer of their own.
COPY pyproject.toml constraints.txt README.md LICENSE ./
RUN test -n "${SERVICE}" \
    && python -m venv /opt/spotthebot \
    && mkdir -p services/spotthebot shared/spotthebot \
    && /opt/spotthebot/bin/pip install --no-cache-dir --constraint constraints.txt ".[${SERVICE}]"
COPY services services
COPY shared shared
RUN /opt/spotthebot/bin/pip install --no-cache-dir --no-deps --force-reinstall .

FROM python:${PYTHON}-slim
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
