"""Runs infra/generate-secret.sh with credentials, and with programs that note how it calls them."""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import yaml

SCRIPT = Path(__file__).parents[2] / "infra" / "generate-secret.sh"
NAMES = ("EXOSCALE_API_KEY", "EXOSCALE_API_SECRET", "EXOSCALE_ZONE")
CREDENTIALS = {
    "EXOSCALE_API_KEY": b"EXOa1b2c3d4e5f6a7b8c9d0e1f2",
    "EXOSCALE_API_SECRET": b"sVqyrVbXZHV6Vl4t3JZzGCvwP9mFpJ_qTz5nYcRb0kE",
    "EXOSCALE_ZONE": b"ch-gva-2",
}
HIDDEN = [value for name in NAMES[:2] for value in (CREDENTIALS[name], base64.b64encode(CREDENTIALS[name]))]


@dataclass(frozen=True)
class Outcome:
    """How a run of the script ended."""

    status: int
    out: bytes
    err: bytes

    def shows_a_credential(self) -> bool:
        return any(value in self.out + self.err for value in HIDDEN)


def run(
    *arguments: str,
    variables: dict[str, bytes] = CREDENTIALS,
    path: str = os.environ["PATH"],
    interpreter: tuple[str, ...] = (),
    **more: str,
) -> Outcome:
    environment = {"PATH": path.encode(), **variables, **{name: value.encode() for name, value in more.items()}}
    done = subprocess.run(
        [*interpreter, str(SCRIPT), *arguments], env=environment, capture_output=True, timeout=60, check=False
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


def values_of(manifest: bytes) -> dict[str, bytes]:
    data: dict[str, str] = yaml.safe_load(manifest)["data"]
    return {key: base64.b64decode(value, validate=True) for key, value in data.items()}


def an_executable(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


@dataclass(frozen=True)
class Recorder:
    """Programs on PATH that note how they were called: kubectl, base64 and tr."""

    folder: Path

    @property
    def path(self) -> str:
        return f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}"

    @property
    def manifest(self) -> bytes:
        return (self.folder / "manifest").read_bytes()

    @property
    def command_lines(self) -> list[str]:
        return (self.folder / "calls").read_text(encoding="utf-8").splitlines()

    @property
    def kubectl_arguments(self) -> list[str]:
        (line,) = [line for line in self.command_lines if line.startswith("kubectl ")]
        return line.split()[1:]


def recording(folder: Path) -> Recorder:
    """Puts the recording programs in place."""
    programs = folder / "bin"
    programs.mkdir()
    an_executable(
        programs / "kubectl",
        f"""#!/bin/sh
printf '%s\\n' "kubectl $*" >> '{folder}/calls'
cat > '{folder}/manifest'
echo "secret/exoscale-api-credentials created"
if [ -n "$KUBECTL_FAILS_WITH" ]; then
  echo 'error when applying patch:' >&2
  cat '{folder}/manifest' '{folder}/manifest' >&2
  printf 'the last word' >&2
  exit "$KUBECTL_FAILS_WITH"
fi
""",
    )
    for tool in ("base64", "tr"):
        an_executable(
            programs / tool,
            f"""#!/bin/sh
printf '%s\\n' "{tool} $*" >> '{folder}/calls'
exec '{shutil.which(tool)}' "$@"
""",
        )
    return Recorder(folder)


def only(folder: Path, *programs: str) -> str:
    """A PATH with nothing else on it."""
    folder.mkdir()
    for program in programs:
        found = shutil.which(program)
        assert found is not None
        (folder / program).symlink_to(found)
    return str(folder)
