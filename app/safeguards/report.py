"""What a proof found: one finding for each safeguard or check, and whether all of them hold."""

from dataclasses import dataclass
from typing import Any, Final, Literal

Level = Literal["proof", "advice"]

NAMED_AT_MOST: Final = 10


@dataclass(frozen=True, slots=True)
class Finding:
    """One question and its answer. Advice that does not hold is worth reading, but fails nothing."""

    name: str
    rule: int | None  # DESIGN section 4
    holds: bool
    sentence: str
    detail: tuple[str, ...] = ()
    level: Level = "proof"

    @property
    def fails(self) -> bool:
        """Whether the whole proof fails by it."""
        return not self.holds and self.level == "proof"


@dataclass(frozen=True, slots=True)
class Report:
    """All that one run found, in the order in which it looked."""

    findings: tuple[Finding, ...]

    @property
    def holds(self) -> bool:
        """True when nothing fails; advice does not count."""
        return not any(finding.fails for finding in self.findings)

    def as_json(self) -> dict[str, Any]:
        """For `--json`, the console and safeguards.report."""
        return {
            "holds": self.holds,
            "findings": [
                {
                    "name": finding.name,
                    "rule": finding.rule,
                    "holds": finding.holds,
                    "level": finding.level,
                    "sentence": finding.sentence,
                    "detail": list(finding.detail),
                }
                for finding in self.findings
            ],
        }
