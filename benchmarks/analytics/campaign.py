"""Everything of one campaign in a cold process: six bots, 5,000 annotations, 1,000 replicates; 100 times as many."""

import resource
import subprocess
import sys
import time

from benchmarks.analytics.measurement import Measurement

_SIZES = {5_000: (5.0, None), 500_000: (60.0, 2.0)}
TOY = {"_SIZES": {300: (5.0, None)}}


def measure() -> list[Measurement]:
    """Run a fresh interpreter that imports, analyses and writes the document; making the data is not timed."""
    measurements = []
    for annotations, (max_seconds, max_gibibytes) in _SIZES.items():
        command = [sys.executable, "-m", "benchmarks.analytics.campaign", str(annotations)]
        ran = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - our own interpreter
        seconds, making, gibibytes = map(float, ran.stdout.split())
        limit = "" if max_gibibytes is None else f" and < {max_gibibytes:g} GiB"
        measurements.append(
            Measurement(
                work=f"everything of a campaign of {annotations:,} annotations, cold process",
                rival="-",
                seconds=seconds,
                rival_seconds=None,
                scaled="",
                agreement=f"{gibibytes:.2f} GiB at most; {making:.1f} s to simulate the data not counted",
                goal=f"< {max_seconds:g} s{limit}",
                reached=seconds < max_seconds and (max_gibibytes is None or gibibytes < max_gibibytes),
            )
        )
    return measurements


def _cold(annotations: int) -> None:
    start = time.perf_counter()
    from benchmarks.analytics.simulated import simulated_study  # noqa: PLC0415 - the import is part of a cold process
    from spotthebot.analytics.provenance.domain import Parameters  # noqa: PLC0415 - the same
    from spotthebot.analytics.results.domain.analysis import analyse  # noqa: PLC0415 - the same

    imported = time.perf_counter() - start
    start = time.perf_counter()
    study = simulated_study(annotations)
    making = time.perf_counter() - start
    start = time.perf_counter()
    analyse(study, Parameters(filter="none")).model_dump_json()
    seconds = imported + time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(seconds, making, peak)  # noqa: T201 - for the process that started this one


if __name__ == "__main__":
    _cold(int(sys.argv[1]))
