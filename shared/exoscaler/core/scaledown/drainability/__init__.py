"""May this pod be moved? One rule a file, asked in the order of `rules.RULES`."""

from exoscaler.core.scaledown.drainability.rule import DrainContext, Outcome, Rule, Verdict
from exoscaler.core.scaledown.drainability.rules import RULES, judge

__all__ = ["RULES", "DrainContext", "Outcome", "Rule", "Verdict", "judge"]
