"""Values that are fine alone and wrong together, and mistakes of every source reported at once."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import ValidationError

from exoscaler.core.model import NodeBounds
from exoscaler.errors import SettingsError
from exoscaler.settings import Settings, load_settings
from tests.settings.doors import mistake, mistakes, settings

EXAMPLES = "a duration is written like 30s, 10m or 1h30m"
CLAIM = "a claim must outlast an invocation, or two may act at once: make claim-ttl longer than invocation-budget"


def test_claim_must_outlast_an_invocation() -> None:
    assert mistake("--claim-ttl=25s") == f"--claim-ttl=25s and --invocation-budget=25s (the default): {CLAIM}"


def test_longer_budget_needs_a_longer_claim() -> None:
    assert mistake("--invocation-budget=1m").startswith("--claim-ttl=45s (the default) and --invocation-budget=1m: ")
    assert settings("--invocation-budget=1m", "--claim-ttl=2m").claim_ttl == timedelta(minutes=2)


def test_one_request_must_fit_an_invocation() -> None:
    assert "make cloud-request-timeout shorter" in mistake("--cloud-request-timeout=25s")


def test_wait_for_the_next_evaluation_must_fit_an_invocation() -> None:
    assert "make min-evaluation-interval shorter" in mistake("--min-evaluation-interval=30s")


def test_bypassed_schedulers_are_among_the_allowed_ones() -> None:
    # F33, F34
    found = mistake("--allowed-scheduler-names=default-scheduler", "--bypassed-scheduler-names=default-scheduler,other")

    assert found.endswith(": other must be among the allowed schedulers to be bypassed")


def test_bypassed_schedulers_are_free_when_none_is_named_as_allowed() -> None:
    assert settings("--bypassed-scheduler-names=other").bypassed_scheduler_names == ("other",)


def test_state_and_status_are_two_config_maps() -> None:
    assert "give them different names" in mistake("--state-config-map-name=cluster-autoscaler-status")


def test_value_that_is_wrong_by_itself_is_not_compared() -> None:
    assert mistake("--claim-ttl=10") == "--claim-ttl=10: has no unit; a duration is written like 30s, 10m or 1h30m"


def test_value_out_of_range_is_not_compared() -> None:
    assert mistake("--claim-ttl=-10s") == "--claim-ttl=-10s: must be longer than 0s"


def test_settings_made_in_code_are_held_to_the_same_rules() -> None:
    with pytest.raises(ValidationError, match="claim must outlast"):
        Settings(claim_ttl=timedelta(seconds=1))
    with pytest.raises(ValidationError, match="must be 1 or more"):
        Settings(nodes=(NodeBounds(0, 3, "pool-a"),))
    with pytest.raises(ValidationError, match="is a fraction"):
        Settings(scale_down_utilization_threshold=50)


def test_unknown_provider_names_the_installed_ones() -> None:
    assert mistake("--cloud-provider=aws") == (
        "--cloud-provider=aws: no such provider is installed; installed are exoscale, sandcloud"
    )


def test_missing_default_provider_is_told_too() -> None:
    with pytest.raises(
        SettingsError, match="--cloud-provider=exoscale: no such provider is installed; installed are none"
    ):
        load_settings([], {}, installed_providers=())


def test_all_mistakes_of_all_sources_are_reported_at_once(tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text("expandr: random\nmax-nodes-total: lots\n")
    env = {
        "EXOSCALER_CONFIG": str(file),
        "EXOSCALER_FLAGS": "--nodes=5:1:pool-a --kube-page-size=0",
        "EXOSCALER_SCALE_DOWN_UNNEEDED_TIME": "ten minutes",
        "EXOSCALE_ZONE": " ",
        "EXOSCALE_API_SECRET": "",
    }

    found = mistakes("--expander=price", "--claim-ttl=5s", env=env)

    assert sorted(found) == sorted(
        (
            f"expandr ({file} line 1): unknown flag; did you mean --expander?",
            f"max-nodes-total: lots ({file} line 2): not a whole number",
            "--nodes=5:1:pool-a (in EXOSCALER_FLAGS): the maximum 1 is below the minimum 5",
            "--kube-page-size=0 (in EXOSCALER_FLAGS): must be between 1 and 10000",
            f'EXOSCALER_SCALE_DOWN_UNNEEDED_TIME="ten minutes": not a duration; {EXAMPLES}',
            "EXOSCALE_ZONE, EXOSCALE_API_SECRET: must be set in the environment to use the cloud provider exoscale",
            "--expander=price: price is not implemented; there are random, most-pods, least-waste, least-nodes",
            f"--claim-ttl=5s and --invocation-budget=25s (the default): {CLAIM}",
        )
    )


def test_error_counts_its_mistakes() -> None:
    with pytest.raises(
        SettingsError, match=r"^2 mistakes in the settings:\n  - --a: unknown flag\n  - --b: unknown flag$"
    ):
        load_settings(["--a", "--b"], {"EXOSCALER_CLOUD_PROVIDER": "other"}, installed_providers=["other"])


def test_same_mistake_twice_is_told_once() -> None:
    assert mistakes("--qqq", "--qqq") == ("--qqq: unknown flag",)


def test_very_long_value_is_cut() -> None:
    found = mistake(f"--nodes={'x' * 5000}")

    assert len(found) < 400
    assert "xxx…" in found
