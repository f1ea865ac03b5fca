"""What one run found: medians over its rounds, each beside its baseline; a table, a JSON file, a line of history."""

import json
import os
import platform
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from statistics import median

import psycopg

from app.base.embedded import Cluster
from bench.tools import HERE, Sample

# What is measured -> the baselines that it is compared with (the best of them counts).
COMPARED = {
    **{f"intake {clients}": [f"hand-written {clients}"] for clients in (1, 16, 64)},
    "end to end 16": ["hand-written 16"],
    "drain 1": [f"floor confirm {clients}" for clients in (1, 8, 16, 32)],
    "drain 2": [f"floor confirm {clients}" for clients in (1, 8, 16, 32)],
}
_FLOOR_OF_INTAKE = {"intake 1": "floor ingest 1", "intake 16": "floor ingest 16", "intake 64": "floor ingest 32"}


def merge(rounds: Sequence[dict[str, Sample]]) -> dict[str, Sample]:
    """The median of each figure over the rounds."""
    return {
        name: {field: round(median(one[name][field] for one in rounds), 3) for field in rounds[0][name]}
        for name in rounds[0]
    }


def ratios(found: dict[str, Sample]) -> dict[str, float]:
    """Each figure of ours divided by its baseline, in this run."""
    result: dict[str, float] = {}
    for name, baselines in COMPARED.items():
        best = max(found[one]["rate"] for one in baselines)
        result[f"{name} / {' '.join(baselines[0].split()[:-1]) if len(baselines) > 1 else baselines[0]}"] = round(
            found[name]["rate"] / best, 2
        )
    for name, baseline in _FLOOR_OF_INTAKE.items():
        result[f"{name} / {baseline}"] = round(found[name]["rate"] / found[baseline]["rate"], 2)
    return result


def table(found: dict[str, Sample]) -> str:
    """For a terminal, and for docs/performance.md as it is."""
    lines = [
        "| what | per second | p50 | p99 | against its baseline |",
        "| --- | ---: | ---: | ---: | --- |",
    ]
    compared = ratios(found)
    for name, sample in found.items():
        beside = [
            f"{ratio} x {key.partition(' / ')[2]}" for key, ratio in compared.items() if key.startswith(f"{name} /")
        ]
        p50, p99 = (f"{sample[field]:.1f} ms" if field in sample else "" for field in ("p50_ms", "p99_ms"))
        lines.append(f"| {name} | {sample['rate']:,.0f} | {p50} | {p99} | {', '.join(beside)} |")
    return "\n".join(lines)


def machine(cluster: Cluster) -> dict[str, object]:
    """What the figures were measured on."""
    with psycopg.connect(cluster.superuser_url()) as conn:
        server = conn.execute("SELECT current_setting('server_version'), current_setting('fsync')").fetchone()
    processors = [line.partition(":")[2].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()
                  if line.startswith("model name")]  # fmt: skip
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _said("git", "describe", "--always", "--dirty", "--abbrev=12"),
        "cpu": processors[0] if processors else platform.machine(),
        "cores": os.cpu_count(),
        "load_before": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
        "postgresql": server[0] if server else None,
        "fsync": server[1] if server else None,
        "granian": version("granian"),
        "psycopg": version("psycopg"),
        "node": _said("node", "--version"),
    }


def keep(run: dict[str, object], found: dict[str, Sample], rounds: Sequence[dict[str, Sample]]) -> Path:
    """Writes bench/results/<date>.json and appends a line to bench/history.jsonl."""
    results = HERE / "results"
    results.mkdir(exist_ok=True)
    path = results / f"{str(run['at']).replace(':', '').replace('+0000', 'Z')}.json"
    whole = {"run": run, "figures": found, "ratios": ratios(found), "rounds": list(rounds)}
    path.write_text(json.dumps(whole, indent=2) + "\n")
    line = {**run, "per_second": {name: sample["rate"] for name, sample in found.items()}, "ratios": ratios(found)}
    with (HERE / "history.jsonl").open("a") as history:
        history.write(json.dumps(line) + "\n")
    return path


def _said(*command: str) -> str:
    return subprocess.run(command, cwd=HERE, check=False, capture_output=True, text=True).stdout.strip()
