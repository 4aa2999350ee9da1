"""Measure which libraries read which features, and write the table of zarr_conformance.portability.

``python scripts/measure_portability.py`` opens the probes of ``portability_probes.py`` with each
library of ``conformance_peers.toml`` in its own environment, which ``make conformance`` installs,
and derives ``support.json``: the features, and combinations of features, that stop a library.
``--hierarchies 500`` then predicts which library reads random hierarchies, opens them with each
library and compares.  The results of the conformance tests, ``docs/conformance.json``, count as
further probes.
"""

from __future__ import annotations

import argparse
import datetime
import itertools
import json
import os
import re
import sys
import tempfile
import tomllib
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from portability_probes import Node, Probe, hierarchies, probes
from run_conformance import FOLDER, PEERS, install
from zarr_conformance.adapters.implementations import BUNDLED_ADAPTERS
from zarr_conformance.corpus.build import all_cases
from zarr_conformance.corpus.case import Accept
from zarr_conformance.portability.features import DOCUMENTS, IF_KNOWN, UNKNOWN, node_features
from zarr_conformance.portability.support import EMPTY, GROUPS, TABLE, Support
from zarr_conformance.runner.adapter_process import AdapterError, AdapterProcess, Limits

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ROOT = Path(__file__).resolve().parent.parent
SECONDS = 30.0
HARNESS = {"zarr-python-3.1": "zarr-python 3.1.6"}  # names in docs/conformance.json that differ

ARRAYS_ONLY = {
    "tensorstore": "groups are not included: it does not support groups",
    "simplezarr": "groups are not included: it opens a group only if it can open all members",
}
NOTES = ARRAYS_ONLY | {
    "zarrs-python": "in strict mode; otherwise it leaves arrays that zarrs does not read to zarr-python",
    "gdal": "the build in the wheels of rasterio; other builds have other compressors",
}
"""What the outcomes of a library mean."""

FORMATS = {"zarr-python-2": (2,), "z5py": (3,), "simplezarr": (3,)}
"""The formats that adapters support, if not both."""

N5_JAVA = "n5-java"
N5_NOTE = (
    "from the documentation of n5 and n5-zarr, which read N5 and version 2; support of version 3 in "
    "development is not included"
)
# What the README of n5-zarr says of version 2, as regular expressions for features.
N5_READS = (
    r"name/.*|v2|v2/(group|array at the root|length 0|order/[CF]|dimension_separator/.*)"
    r"|v2/dtype/[iu][1248]|v2/dtype/f[48]|v2/byte order/>|v2/filters/(null|empty)"
    r"|v2/compressor/(null|(blosc|gzip|zlib|bz2)(/.*)?)|v2/consolidated.*"
    r"|v2/fill_value/(integer.*|float|large float|null|-?Infinity|NaN)"
)
N5_FEATURES = [
    "n5",
    *(f"n5/dataType/{it}" for it in ("float32", "float64")),
    *(f"n5/dataType/{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    *(f"n5/compression/{it}" for it in ("raw", "gzip", "bzip2", "xz", "lz4", "blosc", "zstd")),
]
READ_N5 = {N5_JAVA, "tensorstore", "z5py", "zarr-python-2"}
WITHOUT_LZ4 = {"tensorstore", "zarr-python-2"}
"""Libraries whose documentation says that they read N5, and those of them without LZ4."""

Observation = tuple[frozenset[str], str, str]


class Library(NamedTuple):
    """How to start the adapter of a library."""

    name: str
    command: list[str]
    environment: dict[str, str]


def libraries(folder: Path, only: Sequence[str]) -> list[Library]:
    """Return the libraries whose environments are installed, by their names in the table."""
    found = []
    for name, environment in tomllib.loads(PEERS.read_text("utf-8"))["environments"].items():
        installed = folder / name
        if not installed.exists():
            install(name, environment)
        if name == "gdal":
            script = str(Path(__file__).with_name("portability_gdal.py"))
            package = str(ROOT / "packages" / "zarr-conformance" / "src")
            program = str(installed / "bin" / "python")
            found.append(Library(name, [program, script], {"PYTHONPATH": package}))
        for run in environment["runs"]:
            if run == "zarr-metadata":
                continue  # reads no elements
            variables = {"NODE_PATH": str(installed / "node_modules")}
            if "npm" not in environment:
                os.environ[BUNDLED_ADAPTERS[run].variable] = str(installed / "bin" / "python")
                variables = {"PYTHONPATH": ""}
            command = BUNDLED_ADAPTERS[run].command()
            found.append(Library(name if "name" in environment else run, command, variables))
    return [it for it in found if not only or it.name in only]


# --- opening ---


def features_of(probe: Probe) -> dict[str, frozenset[str]]:
    """Return the features of the nodes of a probe."""
    documents = {path: documents_of(probe, path) for path in probe.nodes}
    found = {}
    for path, own in documents.items():
        features = node_features(path, own, documents.get(""))
        ids = (it.id.replace("acme.unknown", UNKNOWN) for it in features)
        found[path] = frozenset(it if UNKNOWN in it else it.replace(IF_KNOWN, "") for it in ids)
    return found


def documents_of(probe: Probe, path: str) -> dict[str, Any]:
    """Return the metadata documents of a node of a probe."""
    names = (*DOCUMENTS["v3"], *DOCUMENTS["v2"])
    keys = {name: f"{path}/{name}".lstrip("/") for name in names}
    return {name: json.loads(probe.store[key]) for name, key in keys.items() if key in probe.store}


def open_all(library: Library, given: Sequence[Probe], folder: Path) -> tuple[str, list[Any]]:
    """Open all probes with a library; return its version, and outcomes by path for each probe."""
    into = folder / f"into-{library.name}"
    log = folder / f"log-{library.name}"
    process: AdapterProcess | None = None
    version, results = "", []
    for number, probe in enumerate(given):
        outcomes = {}
        for path, node in probe.nodes.items():
            request = {
                "zarr_format": node.zarr_format, "store": str(folder / f"{number}.zarr"), "path": path,
            }  # fmt: skip
            into.unlink(missing_ok=True)
            outcome = ("crash", "")
            for _ in range(2):  # an error that zarrita.js does not handle ends the next request
                if process is None:
                    process = AdapterProcess(
                        library.command, log, Limits().memory, library.environment
                    )
                    version = process.request(60, "capabilities")["result"]["version"]
                try:
                    if node.values is None:
                        reply = process.request(SECONDS, "open", **request)
                    else:
                        reply = process.request(SECONDS, "read", **request, into=str(into), selection=None)  # fmt: skip
                except AdapterError as error:
                    process = None
                    outcome = ("crash", f"{type(error).__name__}: {error}"[:200])
                    continue
                outcome = judge(library, node, reply, into)
                break
            outcomes[path] = outcome
        results.append(outcomes)
    if process is not None:
        process.close()
    return version, results


def judge(library: Library, node: Any, reply: dict[str, Any], into: Path) -> tuple[str, str]:
    """Return the outcome of a request and a message."""
    if "error" in reply:
        error = reply["error"]
        if node.values is None and library.name in ARRAYS_ONLY:
            return "reads", ""
        return "refuses", f"{error['type']}: {' '.join(error['message'].split())}"[:300]
    if node.values is None or same(node, into.read_bytes()):
        return "reads", ""
    return "wrong", ""


def same(node: Any, got: bytes) -> bool:
    """Whether elements are equal."""
    if got == node.values or node.kind == "raw":
        return bool(got == node.values)
    try:
        return bool(json.loads(got) == json.loads(node.values))
    except ValueError:
        return False


def measure(chosen: Sequence[Library], given: Sequence[Probe]) -> dict[str, Any]:
    """Open probes with all libraries; return their versions and observations."""
    with tempfile.TemporaryDirectory(prefix="portability-") as place:
        folder = Path(place)
        for number, probe in enumerate(given):
            for key, value in probe.store.items():
                file = folder / f"{number}.zarr" / key
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(value)
        with ThreadPoolExecutor(2) as pool:
            done = list(pool.map(lambda it: open_all(it, given, folder), chosen))
    return {
        library.name: {"version": version, "results": results}
        for library, (version, results) in zip(chosen, done, strict=True)
    }


# --- the table ---


def learn(observations: Sequence[Observation]) -> list[tuple[frozenset[str], str, str, bool]]:
    """Return what stops a library: sets of features, with the outcome, a message, and a flag.

    A set stops it if no array with these features was read.  Single features are preferred to
    pairs, and those that explain most arrays to others; three features are the most.  The flag
    tells that arrays without chunks were read.
    """
    left = [it for it in observations if it[1] != "reads"]
    read = {features for features, outcome, _ in observations if outcome == "reads"}
    empty = {features for features in read if features & EMPTY}
    read -= empty
    frequency = Counter(it for features, _, _ in observations for it in features)
    causes = []
    for size in (1, 2, 3):
        good = {it for features in read for it in combinations(features, size)}
        good |= {it for features in empty for it in combinations(features, size) if EMPTY & {*it}}
        candidates = [
            _data_types_first([it for it in combinations(features, size) if it not in good])
            for features, _, _ in left
        ]
        while left:
            counts = Counter(it for them in candidates for it in them)
            if not counts:
                break
            cause = max(counts, key=lambda it: (counts[it], *_rank(it, frequency)))
            wanted = frozenset(cause)
            covered = [wanted <= features for features, _, _ in left]
            outcomes = Counter(
                it[1] for it, is_covered in zip(left, covered, strict=True) if is_covered
            )
            outcome = outcomes.most_common(1)[0][0]
            # The message of the simplest array, with known extensions if possible.
            simplest = min(
                (
                    it
                    for it, is_covered in zip(left, covered, strict=True)
                    if is_covered and it[1] == outcome
                ),
                key=lambda it: (sum(UNKNOWN in one for one in it[0] - wanted), len(it[0])),
            )
            lazy = any(wanted <= features for features in empty)
            causes.append((wanted, outcome, simplest[2], lazy))
            keep = [not it for it in covered]
            left = list(itertools.compress(left, keep))
            candidates = list(itertools.compress(candidates, keep))
    return causes


def _data_types_first(candidates: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Return candidates without fill values if the data type, which has this form, is one."""
    kinds = [{it.split("/")[1] for it in cause if "/" in it} for cause in candidates]
    if not any(kind <= {"data_type", "dtype"} for kind in kinds if kind):
        return candidates
    return [it for it, kind in zip(candidates, kinds, strict=True) if kind != {"fill_value"}]


_ORDER = ("", "data_type", "dtype", "codec", "compressor", "filter", "chunk_grid")


def _rank(cause: tuple[str, ...], frequency: Counter[str]) -> tuple[Any, ...]:
    """Rank causes that explain equally many arrays: general features, then rare ones."""
    parts = [
        _ORDER.index(kind) if (kind := ([*it.split("/"), ""])[1]) in _ORDER else 9 for it in cause
    ]
    return (-sum(frequency[it] for it in cause), -sum(parts), -sum(map(len, cause)), cause)


def combinations(features: frozenset[str], size: int) -> Iterable[tuple[str, ...]]:
    """Return the sets of features of a size, in a fixed order."""
    return itertools.combinations(sorted(features), size)


def table(measured: dict[str, Any], given: Sequence[Probe]) -> dict[str, Any]:
    """Derive the table from the outcomes of probes."""
    ids = [features_of(probe) for probe in given]
    tested = {it for nodes in ids for features in nodes.values() for it in features}
    harness = harness_results()
    tested |= {it for results in harness.values() for features, _ in results for it in features}
    stops: dict[tuple[str, ...], dict[str, dict[str, Any]]] = defaultdict(dict)
    for name, found in measured.items():
        observations = [
            (nodes[path], *outcome)
            for nodes, outcomes in zip(ids, found["results"], strict=True)
            for path, outcome in outcomes.items()
            if name not in ARRAYS_ONLY or not nodes[path] & GROUPS
        ]
        observations += [
            (features, "reads" if reads else "refuses", "")
            for features, reads in harness.get(name, ())
        ]
        for features, outcome, message, lazy in learn(observations):
            entry: dict[str, Any] = {"outcome": outcome}
            if lazy:
                entry["chunks"] = True
            if message:
                entry["message"] = shorten(message)
            stops[tuple(sorted(features))][name] = entry
    add_documented(stops, tested, measured)
    libraries = {
        name: {"version": found["version"].split(" ")[0], "source": "measured"}
        | ({"note": NOTES[name]} if name in NOTES else {})
        | ({"groups": False} if name in ARRAYS_ONLY else {})
        for name, found in measured.items()
    }
    libraries[N5_JAVA] = {"version": "3", "source": "documented", "note": N5_NOTE}
    return {
        "version": 1,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "libraries": libraries,
        "features": sorted({*tested, *N5_FEATURES, "v1", "draft"}),
        "unsupported": [
            {"features": list(features), "libraries": dict(sorted(by.items()))}
            for features, by in sorted(stops.items(), key=lambda it: (len(it[0]), it[0]))
        ],
    }


def add_documented(
    stops: dict[tuple[str, ...], dict[str, dict[str, Any]]],
    tested: Iterable[str],
    measured: Iterable[str],
) -> None:
    """Add what documentation says: the row of N5 in Java, and formats that are not measured."""
    refuses = {"outcome": "refuses"}
    for feature in tested:
        if not feature.startswith("v3/") and not re.fullmatch(N5_READS, feature):
            stops[feature,][N5_JAVA] = refuses
    for name in (*measured, N5_JAVA):
        for format_ in ("v1", "draft", *(["n5"] if name not in READ_N5 else [])):
            stops[format_,][name] = refuses
        if name in WITHOUT_LZ4:
            stops["n5/compression/lz4",][name] = refuses


def shorten(message: str) -> str:
    """Return a message without places of this machine, in at most 120 characters."""
    message = re.sub(r"(file://)?/\S*portability-\S*", "...", message)
    message = re.sub(r"0x[0-9a-f]{6,}", "0x...", message)
    return message if len(message) <= 120 else message[:117] + "..."


# --- checks ---


def compare(measured: dict[str, Any], given: Sequence[Probe], support: Support) -> Counter[Any]:
    """Compare predictions for whole hierarchies with outcomes; print those that differ."""
    counts: Counter[Any] = Counter()
    for number, probe in enumerate(given):
        nodes = features_of(probe)
        for name, found in measured.items():
            outcomes = found["results"][number]
            actual = {path for path, (outcome, _) in outcomes.items() if outcome != "reads"}
            predicted = {path for path in outcomes if support.unsupported(nodes[path], name)}
            counts[name, actual == predicted] += 1
            if actual != predicted:
                for path in sorted(actual ^ predicted):
                    causes = [sorted(it.features) for it in support.unsupported(nodes[path], name)]
                    print(f"{probe.origin} {name} /{path}: {outcomes[path]}; predicted {causes}; {probe.origin if not causes else ''} {sorted(nodes[path])}")  # fmt: skip
    return counts


def harness_results() -> dict[str, list[tuple[frozenset[str], bool]]]:
    """Return the results of the conformance tests: for each library, features and whether it reads.

    They are those of the cases that read all elements of a valid array.
    """
    recorded = json.loads((ROOT / "docs" / "conformance.json").read_text("utf-8"))
    cases = {}
    for case in all_cases():
        if case.operation == "read" and isinstance(case.expect, Accept) and case.selection is None:
            probe = Probe(dict(case.store), {case.path: Node(case.zarr_format)})
            with suppress(ValueError, TypeError, AttributeError, RecursionError, LookupError):
                cases[case.id] = case.zarr_format, features_of(probe)[case.path]
    found: dict[str, list[tuple[frozenset[str], bool]]] = {}
    names = {shown: name for name, shown in HARNESS.items()}
    for run in recorded["runs"]:
        name = names.get(run["name"], run["name"])
        found[name] = [
            (cases[case][1], grade == "p")
            for case, grade in zip(recorded["cases"], run["grades"], strict=True)
            # Adapters that do not support a format do not show whether the library does.
            if case in cases and cases[case][0] in FORMATS.get(name, (2, 3))
        ]
    return found


def main() -> int:
    """Measure, write, check."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--environments", type=Path, default=FOLDER, help="a folder with environments"
    )
    parser.add_argument("--library", action="append", default=[], help="only this one; repeatable")
    parser.add_argument(
        "--observations", type=Path, help="read outcomes of probes from, or write to"
    )
    parser.add_argument(
        "--random", type=int, default=1500, help="random hierarchies among the probes"
    )
    parser.add_argument("--hierarchies", type=int, default=0, help="compare with so many others")
    parser.add_argument("--seed", type=int, default=1, help="of the hierarchies to compare with")
    args = parser.parse_args()
    chosen = libraries(args.environments, args.library)
    given = [*probes(), *hierarchies(args.random, 0)]
    if args.observations and args.observations.exists():
        measured = json.loads(args.observations.read_text("utf-8"))
    else:
        measured = measure(chosen, given)
        if args.observations:
            args.observations.write_text(json.dumps(measured), "utf-8")
    content = table(measured, given)
    TABLE.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8")
    support = Support.load()
    for name, results in harness_results().items():
        if name in support.libraries:
            agree = sum(reads == (not support.unsupported(ids, name)) for ids, reads in results)
            print(f"{name}: agrees with {agree} of {len(results)} results of the harness")
    if args.hierarchies:
        others = list(hierarchies(args.hierarchies, args.seed))
        counts = compare(measure(chosen, others), others, support)
        right = sum(count for (_, is_right), count in counts.items() if is_right)
        for name in content["libraries"]:
            print(f"{name}: {counts[name, True]} of {counts[name, True] + counts[name, False]}")
        print(f"{right} of {counts.total()} predictions are right ({right / counts.total():.2%})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
