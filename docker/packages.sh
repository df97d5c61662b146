# Builds a wheel of every package that the part PART of requirements.txt names, each of the file that its hash says.
# Runs in the build stage of service.Dockerfile.
set -euo pipefail

if [ -z "${SERVICE}" ]; then
  echo "Say which service: --build-arg SERVICE=annotation" >&2
  exit 1
fi
grep -E "# .*\bbuild\b" requirements.txt > build.txt
if ! grep -q -E "# .*\b${PART}\b" requirements.txt; then
  echo "requirements.txt has no part '${PART}': SERVICE names a service, or 'cli'." >&2
  exit 1
fi
# Traces are recorded where a setting asks for them: what does so is in every image.
grep -E "# .*\b(${PART}|tracing)\b" requirements.txt > part.txt
python3 -m venv /build
/build/bin/pip install --quiet --require-hashes -r build.txt
/build/bin/pip wheel --quiet --no-build-isolation --require-hashes --wheel-dir /wheels -r part.txt

if [ "${TORCH}" != none ] && [[ "${SERVICE}" =~ ^(bots|fed)$ ]]; then
  # By version, not by hash: each build of torch has files of its own.
  mapfile -t models < <(/build/bin/python -c "
import tomllib
print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['optional-dependencies']['models'], sep='\n')")
  index=()
  [ -z "${TORCH_INDEX}" ] || index=(--extra-index-url "${TORCH_INDEX}/${TORCH}")
  /build/bin/pip wheel --quiet --wheel-dir /wheels --find-links /wheels "${index[@]}" -c constraints.txt "${models[@]}"
fi
