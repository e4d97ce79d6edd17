from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr, ValidationError

from exoscaler.sandbox.exoscale import DEFAULT_SCENARIO, ExoscaleSandbox, Scenario, ScenarioError, instance_types
from tests.sandbox.exoscale.worlds import KEY, NOBODY, ManualClock, World, nodepool_spec, scenario

EXAMPLE = """
zone: de-fra-1
quotas: {instance: 50, gpu3: 4}
quota-surface: stuck
timing: {boot-seconds: 90, boot-jitter: 0}
clusters:
  - name: prod
    id: 00000000-0000-4000-8000-000000000000
    nodepools:
      - {name: general, size: 2, instance-type: standard.medium, labels: {tier: web}, boot-seconds: 30}
      - name: gpu
        size: 0
        instance-type: gpu3.small
        disk-size: 200
        anti-affinity-groups: [spread]
        taints: {nvidia.com/gpu: {value: present, effect: NoSchedule}}
pools:
  - {name: batch, size: 1, instance-type: standard.large, node-labels: {workload: batch}}
instances:
  - {name: db, instance-type: memory.huge, labels: {role: db}}
"""


def test_account_is_described_in_yaml(tmp_path: Path) -> None:
    file = tmp_path / "account.yaml"
    file.write_text(EXAMPLE)

    world = World(Scenario.load(file))

    assert world.nodepool("gpu").cluster_id == NOBODY
    assert len(world.cloud.machines()) == 4
    assert {machine.zone for machine in world.cloud.machines()} == {"de-fra-1"}
    assert world.pool("gpu").launch.disk_gib == 200


def test_account_is_described_in_json_too(tmp_path: Path) -> None:
    file = tmp_path / "account.json"
    file.write_text(DEFAULT_SCENARIO.model_dump_json(by_alias=True))

    assert Scenario.load(file) == DEFAULT_SCENARIO


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("zone: [", "cannot be read"),
        ("- a list", "does not describe an account"),
        ("zones: ch-gva-2", "zones: Extra inputs"),
        ("quotas: {instance: -2}", r"quotas\.instance"),
        ("pools: [{name: a, size: -1, instance-type: standard.large}]", r"pools\.0\.size"),
        ("pools: [{name: a, size: 1, instance-type: standard.enormous}]", "unknown instance type 'standard.enormous'"),
        ("pools: [{name: a, size: 1, instance-type: standard.large, id: pool-a}]", r"pools\.0\.id"),
        ("clusters: [{name: c, nodepools: [{name: n, size: 1, instance-type: cpu.huge, taints: {a: b}}]}]", "taints"),
    ],
)
def test_description_that_is_wrong_is_refused_with_its_place(content: str, words: str, tmp_path: Path) -> None:
    file = tmp_path / "account.yaml"
    file.write_text(content)

    with pytest.raises(ScenarioError, match=words):
        Scenario.load(file)


def test_description_that_is_missing_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=r"nothing\.yaml cannot be read"):
        Scenario.load(tmp_path / "nothing.yaml")


def test_storage_addon_needs_a_disk_of_its_size() -> None:
    with pytest.raises(ValidationError, match="at least 100 GiB"):
        nodepool_spec(addons=("storage-lvm",), disk_size=50)


def test_type_has_to_be_offered_in_the_zone() -> None:
    with pytest.raises(ValueError, match=r"gpua30\.small is not offered in zone at-vie-1, only in ch-gva-2"):
        World(scenario(nodepool_spec(instance_type="gpua30.small"), zone="at-vie-1"))


def test_id_used_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="used twice"):
        World(scenario(nodepool_spec("a", id=NOBODY), nodepool_spec("b", id=NOBODY)))


def test_default_account_is_ready_to_be_scaled() -> None:
    world = World(DEFAULT_SCENARIO)

    assert [machine.type_name for machine in world.cloud.machines()] == [
        "standard.large",
        "cpu.extra-large",
        "standard.medium",
    ]
    assert world.nodepool().taints == ()
    assert [taint.key for taint in world.nodepool("compute").taints] == ["workload"]


def test_same_seed_gives_the_same_ids_and_another_seed_others() -> None:
    def ids(seed: int) -> set[str]:
        return {machine.id for machine in World(DEFAULT_SCENARIO, seed=seed).cloud.machines()}

    assert ids(1) == ids(1)
    assert ids(1).isdisjoint(ids(2))


def test_zone_given_to_the_sandbox_overrides_the_scenarios() -> None:
    sandbox = ExoscaleSandbox(ManualClock(), key=KEY, secret=SecretStr("s3cret"), zone="bg-sof-1")

    assert {machine.zone for machine in sandbox.cloud.machines()} == {"bg-sof-1"}
    with pytest.raises(ValidationError):
        ExoscaleSandbox(ManualClock(), key=KEY, secret="s", zone="Geneva")


def test_catalogue_has_real_sizes_under_stable_ids() -> None:
    medium = instance_types.by_name("standard.medium")

    assert (medium.cpus, medium.memory_bytes, medium.gpus) == (2, 4 * 2**30, 0)
    assert medium.id == "ba6704e0-f9c4-512b-a604-d41c7312bf72"
    assert instance_types.by_id(medium.id) is medium
    assert len({each.id for each in instance_types.CATALOGUE}) == len(instance_types.CATALOGUE) == 49
    assert instance_types.by_name("gpub300.huge").memory_bytes == 2560 * 2**30
