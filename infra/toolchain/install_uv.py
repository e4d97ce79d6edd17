"""Puts the package manager uv into a folder, with nothing but Python's standard library.

A plain Debian has neither pip nor venv, so the wheel is fetched from the package index, checked against the index's own
SHA-256, and unpacked. `UV_DEFAULT_INDEX` or `PIP_INDEX_URL` choose another index than PyPI's.

    python3 install_uv.py FOLDER VERSION
"""

from __future__ import annotations

import hashlib
import html.parser
import io
import os
import platform
import re
import stat
import sys
import urllib.error
import urllib.parse
import urllib.request
import zipfile
from pathlib import Path

TIMEOUT_SECONDS = 120
LINUX_WHEELS = {
    "x86_64": r"manylinux_2_17_x86_64|manylinux2014_x86_64",
    "aarch64": r"manylinux_2_(?:17|28)_aarch64|manylinux2014_aarch64",
}


class _Links(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self.found += [value for name, value in attrs if name == "href" and value]


def _fetch(url: str) -> bytes:
    if urllib.parse.urlsplit(url).scheme not in ("https", "http", "file"):
        raise SystemExit(f"install_uv: not a web address: {url}")
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS) as answer:  # noqa: S310 - the scheme was checked
            return bytes(answer.read())
    except (urllib.error.URLError, TimeoutError) as error:
        raise SystemExit(f"install_uv: {url} could not be fetched: {error}") from error


def _wheel_address(index: str, version: str) -> tuple[str, str]:
    """The address of the wheel for this machine and its SHA-256, from the index's page."""
    machine = platform.machine()
    tags = LINUX_WHEELS.get(machine)
    if tags is None or platform.system() != "Linux":
        raise SystemExit(
            f"install_uv: no wheel for {platform.system()} on {machine}; install uv yourself, then try again"
        )
    page = f"{index.rstrip('/')}/uv/"
    links = _Links()
    links.feed(_fetch(page).decode())
    wanted = re.compile(rf"/uv-{re.escape(version)}-py3-none-[^/#]*(?:{tags})[^/#]*\.whl(?:#sha256=([0-9a-f]{{64}}))")
    for link in links.found:
        if match := wanted.search(link):
            return urllib.parse.urljoin(page, link.partition("#")[0]), match.group(1)
    raise SystemExit(f"install_uv: {page} has no wheel of uv {version} for {machine}")


def _unpack(wheel: bytes, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(io.BytesIO(wheel)) as archive:
        name = next(n for n in archive.namelist() if n.endswith(".data/scripts/uv"))
        fresh = folder / "uv.new"
        fresh.write_bytes(archive.read(name))
    fresh.chmod(fresh.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    fresh.replace(folder / "uv")


def main() -> None:
    """Install uv, or say why not."""
    if len(sys.argv) != 3:
        raise SystemExit("usage: install_uv.py FOLDER VERSION")
    folder, version = Path(sys.argv[1]), sys.argv[2]
    index = os.environ.get("UV_DEFAULT_INDEX") or os.environ.get("PIP_INDEX_URL") or "https://pypi.org/simple"
    address, checksum = _wheel_address(index, version)
    wheel = _fetch(address)
    if hashlib.sha256(wheel).hexdigest() != checksum:
        raise SystemExit(f"install_uv: {address} is not what the index promised")
    _unpack(wheel, folder)


if __name__ == "__main__":
    main()
