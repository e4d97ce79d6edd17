"""I9: a secret is nowhere but in its variable and in the hands of the signer."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from exoscaler.errors import SettingsError
from exoscaler.settings import Settings, load_settings

unhurried = hypothesis_settings(deadline=None)  # a busy machine is no finding

# The first characters make it certain that a generated secret is no word that occurs in settings anyway.
SECRETS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=60).map("~!hush!{}!~".format)
KEYS = st.text(st.characters(min_codepoint=33, max_codepoint=126, exclude_characters=","), max_size=60).map(
    "EXO~!{}!~".format
)


@dataclass(frozen=True)
class Access:
    key: str
    secret: str

    def environ(self, **others: str) -> dict[str, str]:
        return {
            "EXOSCALE_ZONE": "ch-gva-2",
            "EXOSCALE_API_KEY": self.key,
            "EXOSCALE_API_SECRET": self.secret,
            **others,
        }

    def is_in(self, text: str) -> bool:
        return self.key in text or self.secret.strip() in text


ACCESSES = st.builds(Access, KEYS, SECRETS)


@unhurried
@given(ACCESSES)
def test_loaded_settings_show_no_secret(access: Access) -> None:
    loaded = load_settings(["--nodes=0:5:a", "--leader-elect"], access.environ(), installed_providers=["exoscale"])

    shown = [
        repr(loaded),
        str(loaded.settings),
        repr(loaded.settings.exoscale),
        loaded.settings.model_dump_json(),
        json.dumps(loaded.settings.model_dump(mode="json")),
        str(loaded.settings.model_dump()),
        *loaded.warnings,
        *(str(origin) for origin in loaded.origins.values()),
    ]
    assert loaded.settings.secret_values == (access.key, access.secret.strip())
    assert not [text for text in shown if access.is_in(text)]


@unhurried
@given(ACCESSES, st.sampled_from(["nodes", "expander", "max-nodes-total", "qqq", "event-sink", "exoscale-api-secret"]))
def test_secret_that_strays_into_another_flag_is_not_repeated(access: Access, name: str) -> None:
    environ = access.environ(EXOSCALER_SCAN_INTERVAL=access.secret, EXOSCALER_KUBE_PAGE_SIZE=f"x {access.key} x")
    argv = [f"--{name}={access.secret}", f"--{name}", access.key, access.secret]

    with pytest.raises(SettingsError) as caught:
        load_settings(argv, environ, installed_providers=["exoscale"])

    assert not access.is_in(str(caught.value))
    assert not access.is_in(repr(caught.value))


@unhurried
@given(ACCESSES)
def test_secret_in_a_warning_is_not_repeated(access: Access) -> None:
    argv = [f"--cluster-name={access.secret}", f"--cluster-name={access.key}", f"--ignore-taint={access.key}"]

    loaded = load_settings(argv, access.environ(), installed_providers=["exoscale"])

    assert loaded.warnings
    assert not [text for text in loaded.warnings if access.is_in(text)]


def test_secret_in_a_settings_file_is_not_repeated(tmp_path: Path) -> None:
    access = Access("EXO0123456789abcdef01234567", "hush-hush-hush-hush")
    file = tmp_path / "settings.yaml"
    file.write_text(f"exoscale-api-secret: {access.secret}\nnodes: [{access.secret}]\n{access.key}: 1\n")

    with pytest.raises(SettingsError) as caught:
        load_settings([f"--config={file}"], access.environ(), installed_providers=["exoscale"])

    assert len(caught.value.mistakes) == 3
    assert not access.is_in(str(caught.value))


VARIABLES = (
    "EXOSCALER_FLAGS",
    "EXOSCALER_NODES",
    "EXOSCALER_CONFIG",
    "EXOSCALER_EXPANDER",
    "EXOSCALER_SKS_CLUSTER_ID",
    "EXOSCALE_ZONE",
    "EXOSCALE_API_KEY",
    "EXOSCALE_API_ENDPOINT",
    "K_SINK",
)


@unhurried
@given(st.lists(st.text(max_size=30), max_size=6), st.dictionaries(st.sampled_from(VARIABLES), st.text(max_size=30)))
def test_whatever_is_written_either_loads_or_is_explained(argv: list[str], environ: dict[str, str]) -> None:
    outcome: object
    try:
        outcome = load_settings(argv, environ, installed_providers=["exoscale"]).settings
    except SettingsError as error:
        outcome = error.mistakes

    assert isinstance(outcome, Settings) or outcome


@pytest.mark.parametrize("change", ["max_nodes_total", "exoscale", "brand_new"])
def test_settings_are_frozen(change: str) -> None:
    with pytest.raises((ValueError, AttributeError)):
        setattr(Settings(), change, 3)
