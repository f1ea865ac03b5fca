"""`make bench`: Razão beside bare SQL and beside a hand-written receiver, in one run on this machine.

Each round measures all three one after the other; the figures are medians over the rounds. Only the ratios of one run
mean something: machines differ, and so does what else they do.
"""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from app.base import embedded
from bench import bare_sql, hand_written, razao, report
from bench.tools import Sample, find_tools


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="how often everything is measured")
    parser.add_argument("--seconds", type=int, default=6, help="how long each rate is measured")
    parser.add_argument("--backlog", type=int, default=100_000, help="how many stored events are drained")
    parser.add_argument("--quick", action="store_true", help="one short round, to see that it works; nothing is kept")
    given = parser.parse_args()
    if given.quick:
        given.rounds, given.seconds, given.backlog = 1, 2, 10_000
    tools = find_tools()
    receiver = hand_written.install(tools["npm"])
    data_dir = Path(tempfile.mkdtemp(prefix="razao-bench-"))
    try:
        cluster = embedded.start(data_dir)
        run = report.machine(cluster) | vars(given)
        bare_sql.prepare(cluster)
        rounds: list[dict[str, Sample]] = []
        for number in range(1, given.rounds + 1):
            print(f"round {number} of {given.rounds}: bare SQL", file=sys.stderr, flush=True)
            found = bare_sql.measure(cluster, seconds=given.seconds)
            print(f"round {number} of {given.rounds}: hand-written receiver", file=sys.stderr, flush=True)
            found |= hand_written.measure(cluster, tools["node"], receiver, seconds=given.seconds)
            print(f"round {number} of {given.rounds}: Razão", file=sys.stderr, flush=True)
            rounds.append(found | razao.measure(cluster, seconds=given.seconds, backlog=given.backlog))
        medians = report.merge(rounds)
        print(report.table(medians))
        if not given.quick:
            print(f"\nkept in {report.keep(run, medians, rounds)}")
    finally:
        embedded.stop_if_last()
        shutil.rmtree(data_dir, ignore_errors=True)


main()
