# NVIDIA's Triton with what our models need, dialogue models and scorers; they come from a mounted repository, and each
# holds the code that runs it.
#   docker build -f docker/triton.Dockerfile -t spotthebot-triton .
# Any release whose Python is 3.11 or later will do. It is named by its tag, which NVIDIA does not move; to be sure, give
# its digest: --build-arg TRITON_IMAGE=nvcr.io/nvidia/tritonserver@sha256:... (docker buildx imagetools inspect says it).
ARG TRITON_IMAGE=nvcr.io/nvidia/tritonserver:25.10-py3

FROM ${TRITON_IMAGE}
ENV PIP_BREAK_SYSTEM_PACKAGES=1 PYTHONUNBUFFERED=1 GOMP_SPINCOUNT=1000
# numpy 2 is too new for the Python backend of some releases.
RUN pip install --no-cache-dir torch==2.13.0 transformers==5.23.0 "numpy<2"
# The account that NVIDIA's image makes for the server.
USER 1000
EXPOSE 8000 8001 8002
HEALTHCHECK --start-period=30s CMD ["curl", "--fail", "--silent", "http://127.0.0.1:8000/v2/health/ready"]
CMD ["tritonserver", "--model-repository=/var/lib/spotthebot/triton", "--model-control-mode=explicit", "--disable-auto-complete-config", "--strict-readiness=false", "--exit-timeout-secs=10"]
