"""Everything of one study in a cold process: eight Likert measures of four bots, a million values.

The study has one task: two annotators rate both speakers of each conversation by the eight questions of
`dialogue_likert`. The rows are what the service computes for its page, for each measure by itself, for the assessment,
and for the file of all values. Seconds are those of the process on its core, so that a busy machine counts alike.
"""

import json
import resource
import subprocess
import sys
import time

from benchmarks.analytics.measurement import Measurement

VALUES = 1_000_000
MEASURES = 8
TOY = {"VALUES": 1_600}
_GOALS = {
    "every measure": 60.0,
    "pairs of every measure": 60.0,
    "assessment": 60.0,
    "file of all values (CSV)": 120.0,
}
_MAX_GIBIBYTES = 2.0


def measure() -> list[Measurement]:
    """Run a fresh interpreter for all of it; making the data is not timed."""
    command = [sys.executable, "-m", "benchmarks.analytics.study", str(VALUES)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - our own interpreter
    found = json.loads(ran.stdout)
    return [
        Measurement(
            work=f"study of {VALUES:,} values: {work}",
            rival="-",
            seconds=found[work]["seconds"],
            rival_seconds=None,
            scaled="",
            agreement="{peak:.2f} GiB at most so far, {data:.2f} of them the simulated data".format_map(found[work]),
            goal=f"< {seconds:g} s and < {_MAX_GIBIBYTES:g} GiB",
            reached=found[work]["seconds"] < seconds and found[work]["peak"] < _MAX_GIBIBYTES,
        )
        for work, seconds in _GOALS.items()
    ]


def _cold(values: int) -> None:
    from benchmarks.analytics.simulated import rated_study  # noqa: PLC0415 - the import belongs to the process
    from spotthebot.analytics.provenance.domain import Parameters  # noqa: PLC0415 - the same
    from spotthebot.analytics.studies.domain import (  # noqa: PLC0415 - the same
        add_values,
        study_assessment,
        study_measures,
        task_measure,
        task_measures,
    )
    from spotthebot.analytics.table_files.domain import Table, pieces  # noqa: PLC0415 - the same
    from spotthebot.analytics.values.domain.value_table import ValueTable  # noqa: PLC0415 - the same
    from spotthebot.analytics.values.domain.values import MeasuredSample  # noqa: PLC0415 - the same
    from spotthebot.contracts.analytics.tables import ValueRow  # noqa: PLC0415 - the same
    from spotthebot.kit.exports.formats import ExportFormat  # noqa: PLC0415 - the same

    study, task, campaign = rated_study(values)
    parameters, data = Parameters(filter="none"), _peak()
    found: dict[str, dict[str, float]] = {}
    sample = MeasuredSample.take(campaign, parameters.filter)

    def timed(work: str, start: float) -> None:
        found[work] = {"seconds": time.process_time() - start, "peak": _peak(), "data": data}

    start = time.process_time()
    measured = study_measures(study, [task_measures(task, sample, parameters)], parameters)
    measured.model_dump_json()
    timed("every measure", start)

    start = time.process_time()
    for own, called in task.names.measures.items():
        task_measure(own, called, sample, parameters).model_dump_json()
    timed("pairs of every measure", start)

    start = time.process_time()
    table = ValueTable(pairs_named=True)
    origins = [add_values(study, table, task, sample)]
    if len(table) != values:
        message = f"the study has {len(table):,} values"
        raise ValueError(message)
    study_assessment(study, origins, table, study.outcome or "", parameters).model_dump_json()
    timed("assessment", start)

    start = time.process_time()
    for _ in pieces(ExportFormat.CSV, Table(ValueRow, table)):
        pass
    timed("file of all values (CSV)", start)
    print(json.dumps(found))  # noqa: T201 - for the process that started this one


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


if __name__ == "__main__":
    _cold(int(sys.argv[1]))
