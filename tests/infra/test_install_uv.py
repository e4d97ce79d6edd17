"""The bootstrap: a machine with Python alone gets the package manager, checked against the index's checksum."""

from __future__ import annotations

import base64
import contextlib
import functools
import hashlib
import http.server
import io
import os
import platform
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "infra" / "toolchain" / "install_uv.py"
VERSION = "9.9.9"
TAG = "manylinux_2_17_x86_64.manylinux2014_x86_64" if platform.machine() == "x86_64" else "manylinux_2_28_aarch64"
WHEEL = f"uv-{VERSION}-py3-none-{TAG}.whl"

pytestmark = pytest.mark.skipif(platform.machine() not in ("x86_64", "aarch64"), reason="no wheels for this machine")


def make_index(folder: Path, *, checksum: str | None = None, wheel: str = WHEEL) -> None:
    """A package index in a folder, with one wheel of uv."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr(f"uv-{VERSION}.data/scripts/uv", "#!/bin/sh\necho uv of the test\n")
    (folder / wheel).write_bytes(content.getvalue())
    digest = checksum or hashlib.sha256(content.getvalue()).hexdigest()
    page = folder / "simple" / "uv"
    page.mkdir(parents=True)
    (page / "index.html").write_text(f'<a href="../../{wheel}#sha256={digest}">{wheel}</a>')


def install(index: str, target: Path) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "UV_DEFAULT_INDEX": index}
    command = [sys.executable, str(SCRIPT), str(target), VERSION]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)


class _Guarded(http.server.SimpleHTTPRequestHandler):
    """Serves the folder to whoever has the password."""

    def do_GET(self) -> None:
        wanted = base64.b64encode(b"me:p@ss").decode()
        if self.headers["Authorization"] == f"Basic {wanted}":
            super().do_GET()
        else:
            self.send_error(401)


@contextlib.contextmanager
def serving(handler: Callable[..., http.server.BaseHTTPRequestHandler]) -> Iterator[str]:
    """Yields host and port."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture
def served_index(tmp_path: Path) -> Iterator[str]:
    with serving(functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(tmp_path))) as place:
        yield f"http://{place}/simple"


@pytest.fixture
def guarded_place(tmp_path: Path) -> Iterator[str]:
    with serving(functools.partial(_Guarded, directory=str(tmp_path))) as place:
        yield place


def test_the_wheel_for_this_machine_is_unpacked_and_runs(tmp_path: Path, served_index: str) -> None:
    make_index(tmp_path)
    ended = install(served_index, tmp_path / "bin")

    assert (ended.returncode, ended.stderr.count("Traceback")) == (0, 0), ended.stderr
    assert (
        subprocess.run([tmp_path / "bin" / "uv"], capture_output=True, text=True, check=True).stdout
        == "uv of the test\n"
    )


def test_a_wheel_that_is_not_what_the_index_promised_is_not_unpacked(tmp_path: Path, served_index: str) -> None:
    make_index(tmp_path, checksum="0" * 64)
    ended = install(served_index, tmp_path / "bin")

    assert ended.returncode != 0
    assert "not what the index promised" in ended.stderr
    assert not (tmp_path / "bin").exists()


def test_an_index_without_the_version_is_named(tmp_path: Path, served_index: str) -> None:
    make_index(tmp_path, wheel=f"uv-1.0.0-py3-none-{TAG}.whl")
    ended = install(served_index, tmp_path / "bin")

    assert ended.returncode != 0
    assert f"no wheel of uv {VERSION}" in ended.stderr


def test_an_index_out_of_reach_ends_with_a_sentence(tmp_path: Path) -> None:
    ended = install("http://127.0.0.1:9/simple", tmp_path / "bin")

    assert ended.returncode != 0
    assert "could not be fetched" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_user_and_password_in_the_address_open_a_guarded_index(tmp_path: Path, guarded_place: str) -> None:
    make_index(tmp_path)
    ended = install(f"http://me:p%40ss@{guarded_place}/simple/", tmp_path / "bin")

    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "bin" / "uv").exists()


def test_a_refused_password_is_not_shown(tmp_path: Path, guarded_place: str) -> None:
    make_index(tmp_path)
    ended = install(f"http://me:outdated@{guarded_place}/simple", tmp_path / "bin")

    assert ended.returncode != 0
    assert f"http://{guarded_place}/simple/uv/ could not be fetched: HTTP Error 401" in ended.stderr
    assert "outdated" not in ended.stderr


def test_an_address_that_is_none_is_not_repeated(tmp_path: Path) -> None:
    ended = install("me:secret@packages.example/simple", tmp_path / "bin")

    assert ended.returncode != 0
    assert "not a web address" in ended.stderr
    assert "secret" not in ended.stderr


def test_a_wheel_elsewhere_is_fetched_without_the_password(tmp_path: Path, guarded_place: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    make_index(elsewhere)
    asked: list[str | None] = []

    class _Noting(http.server.SimpleHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.headers["Authorization"])
            super().do_GET()

    with serving(functools.partial(_Noting, directory=str(elsewhere))) as other:
        page = tmp_path / "simple" / "uv"
        page.mkdir(parents=True)
        link = (elsewhere / "simple" / "uv" / "index.html").read_text().replace("../../", f"http://{other}/")
        (page / "index.html").write_text(link)
        ended = install(f"http://me:p%40ss@{guarded_place}/simple", tmp_path / "bin")

    assert ended.returncode == 0, ended.stderr
    assert asked == [None]
