# Makes /image: the files that the last stage of service.Dockerfile adds to its base. Runs in the build stage.
set -euo pipefail

environment=/opt/spotthebot
python=${environment}/bin/python
/build/bin/pip wheel --quiet --no-build-isolation --no-deps --wheel-dir /wheels .
python3 -m venv --without-pip "${environment}"
/build/bin/pip --python "${python}" install --quiet --no-index --no-deps --no-compile /wheels/*.whl
packages=$("${python}" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')

if [ "${SERVICE}" = web ]; then
  # The library makes one script: it is made here, and 84 MB stay behind.
  "${python}" -c 'from spotthebot.web.rendering import PREPARED, make_bundle; PREPARED.write_bytes(make_bundle())'
  rm -rf "${packages}/vl_convert"
fi
# Nothing reads these at run time: tests, headers, static libraries, sources of compiled modules.
find "${packages}" -depth -type d \( -name tests -o -name test -o -name include \) -exec rm -rf {} +
find "${packages}" -type f \( -name '*.a' -o -name '*.h' -o -name '*.c' -o -name '*.cpp' -o -name '*.pyx' -o -name '*.pxd' \
  -o -name '*.pyi' \) -delete
# Arrow over the network and in stores of other makers: the services read and write files. Each of its own libraries for
# Python is in the wheel under three names, and loaded by the one that ends with its version.
rm -rf "${packages}"/pyarrow/{libarrow_flight,libarrow_python_flight,libarrow_s3}.so* \
  "${packages}"/pyarrow/{_flight,_s3fs,_gcsfs,_azurefs,_hdfs}.*.so "${packages}"/pyarrow/src \
  "${packages}"/pyarrow/libarrow_python*.so{,.*.*.*}
# Names of places and carriers by telephone number: numbers are found, not located.
rm -rf "${packages}"/phonenumbers/{geodata,carrierdata}
# What torch compiles models with.
rm -rf "${packages}"/{triton,functorch} "${packages}"/torch/share
find "${packages}" -path '*/torch/bin/*' -not -name torch_shm_manager -delete # torch looks for this one when it is imported

# Symbols, which only debuggers read. What a wheel brings of other projects (`*.libs`) was rewritten when it was packed,
# and stays as it is, as does what this machine can't load, such as libraries of GPUs. All else has to load again after.
find "${packages}" -name '*.so*' -type f -not -path '*.libs/*' | sort > modules.txt
"${python}" loadable.py < modules.txt > loadable.txt
xargs --no-run-if-empty strip --strip-unneeded < loadable.txt
"${python}" loadable.py < loadable.txt | diff loadable.txt - > broken.txt || {
  echo "These modules can't be loaded without their symbols:" && cat broken.txt
  exit 1
} >&2

# What is imported with the first use works without all this.
"${python}" -c '
from importlib import import_module
from importlib.util import find_spec
for each in ("pyarrow.parquet", "scipy.stats", "torch", "transformers.generation.utils", "vl_convert"):
    if find_spec(each.partition(".")[0]):
        import_module(each)
'

# Compiled here, as nothing can be written where it runs; told apart by hashes, since times are all the same.
# torch/testing is left out: it holds a file that only Python 3.12 reads.
PYTHONHASHSEED=0 "${python}" -m compileall -q -x torch/testing/ --invalidation-mode unchecked-hash "${packages}"
"${python}" sbom.py "${SERVICE}" > sbom.cdx.json

mkdir -p /image/opt /image/etc /image/var/lib/spotthebot/models /image/var/lib/spotthebot/triton
mv "${environment}" /image/opt/
cp health.py "/image${environment}/"
cp sbom.cdx.json /image/
cp /etc/passwd /etc/group /image/etc/
echo "spotthebot:x:10001:10001::/var/lib/spotthebot:/usr/sbin/nologin" >> /image/etc/passwd
echo "spotthebot:x:10001:" >> /image/etc/group
chown -R 10001:10001 /image/var/lib/spotthebot # also of the volumes that are made for these folders
find /image -exec touch --no-dereference --date="@${SOURCE_DATE_EPOCH}" {} +
