"""Puts the package manager uv into a folder, with nothing but Python's standard library.

A plain Debian has neither pip nor venv, so the wheel is fetched from the package index, checked against the index's own
SHA-256, and unpacked. The index is the one that the lock file was made with; `UV_DEFAULT_INDEX` or `PIP_INDEX_URL`
choose another. A user name and password in its address are sent to that index alone and never printed.

    python3 install_uv.py FOLDER VERSION
"""

from __future__ import annotations

import base64
import hashlib
import html.parser
import http.client
import io
import os
import platform
import re
import stat
import sys
import tomllib
import urllib.parse
import urllib.request
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

TIMEOUT_SECONDS = 120
LOCK_FILE = Path(__file__).parents[2] / "uv.lock"
SCHEMES = ("https", "http", "file")
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


@dataclass(frozen=True)
class _Index:
    """A package index: its address, and what it wants to see of those who ask."""

    address: str
    authorization: str | None = field(repr=False)

    @classmethod
    def at(cls, address: str) -> _Index:
        split = urllib.parse.urlsplit(address.rstrip("/"))
        if split.scheme not in SCHEMES:  # the address may hold a password, so it is not repeated
            raise SystemExit("install_uv: UV_DEFAULT_INDEX or PIP_INDEX_URL is set to what is not a web address")
        credentials, _, place = split.netloc.rpartition("@")
        user, _, password = (urllib.parse.unquote(part) for part in credentials.partition(":"))
        encoded = base64.b64encode(f"{user}:{password}".encode()).decode()
        return cls(split._replace(netloc=place).geturl(), f"Basic {encoded}" if credentials else None)

    def fetch(self, url: str) -> bytes:
        if urllib.parse.urlsplit(url).scheme not in SCHEMES:
            raise SystemExit(f"install_uv: not a web address: {url}")
        request = urllib.request.Request(url)  # noqa: S310 - the scheme was checked
        same_place = urllib.parse.urlsplit(url)[:2] == urllib.parse.urlsplit(self.address)[:2]
        if self.authorization and same_place:
            request.add_unredirected_header("Authorization", self.authorization)
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:  # noqa: S310 - as above
                return bytes(answer.read())
        except (OSError, http.client.HTTPException) as error:
            raise SystemExit(f"install_uv: {url} could not be fetched: {error}") from error


def _index_of_the_lock_file() -> str:
    """Where the packages of the lock file come from."""
    packages = tomllib.loads(LOCK_FILE.read_text(encoding="utf-8"))["package"]
    return next(str(package["source"]["registry"]) for package in packages if "registry" in package["source"])


def _wheel_address(index: _Index, version: str) -> tuple[str, str]:
    """The address of the wheel for this machine and its SHA-256, from the index's page."""
    machine = platform.machine()
    tags = LINUX_WHEELS.get(machine)
    if tags is None or platform.system() != "Linux":
        raise SystemExit(
            f"install_uv: no wheel for {platform.system()} on {machine}; install uv yourself, then try again"
        )
    page = f"{index.address}/uv/"
    links = _Links()
    links.feed(index.fetch(page).decode())
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
    chosen = os.environ.get("UV_DEFAULT_INDEX") or os.environ.get("PIP_INDEX_URL")
    index = _Index.at(chosen or _index_of_the_lock_file())
    address, checksum = _wheel_address(index, version)
    wheel = index.fetch(address)
    if hashlib.sha256(wheel).hexdigest() != checksum:
        raise SystemExit(f"install_uv: {address} is not what the index promised")
    _unpack(wheel, folder)


if __name__ == "__main__":
    main()
