"""Imports and exports in temporary files: a few for each user (contract H4, I4)."""

import io
from contextlib import closing
from typing import Any

import pytest

from logoadmin.domain.kernel.command import MAX_JSON
from logoadmin.entrypoints.http_api import bodies
from logoadmin.entrypoints.http_api.bodies import TemporaryFiles
from logoadmin.entrypoints.http_api.errors import HttpError


@pytest.mark.rule("contract H4")
def test_at_most_eight_files_and_two_per_user_are_open() -> None:
    imports = TemporaryFiles("imports")
    opened = [imports.open(number // 2) for number in range(8)]
    with pytest.raises(HttpError, match="Too many concurrent imports; try again later"):
        imports.open(4)
    opened[0].close()
    opened[0].close()  # a second call has no effect
    with closing(imports.open(0)), pytest.raises(HttpError, match="Too many of your imports") as caught:
        imports.open(1)
    assert (caught.value.status, caught.value.headers) == (429, {"retry-after": "1"})
    opened[0] = imports.open(0)
    for file in opened:
        file.close()


@pytest.mark.rule("contract A21", "contract I2")
def test_only_the_beginning_of_an_overlong_line_is_read() -> None:
    most = MAX_JSON + 1
    with closing(TemporaryFiles("imports").open(1)) as file:
        file.write(b"x" * (most * 7 // 2) + b"\n" + b"y" * (most - 1) + b"\n" + b"z" * most + b"\nlast")
        for _ in range(2):
            assert list(file) == [b"x" * most, b"y" * (most - 1) + b"\n", b"z" * most, b"last"]


def test_written_data_is_read_back_from_disk_and_from_memory() -> None:
    with closing(TemporaryFiles("exports").open(1)) as file:
        for number in range(200_000):
            file.write_line(f"{number:08} é\n")
        content = b"".join(file.chunks(65_536))
        assert content == "".join(f"{number:08} é\n" for number in range(200_000)).encode()
        assert len(content) == file.size


@pytest.mark.rule("contract A20")
def test_a_full_disk_is_a_503(monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(io.BytesIO):
        def write(self, _: Any) -> int:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(bodies, "SpooledTemporaryFile", lambda _: Full())
    with (
        closing(TemporaryFiles("exports").open(1)) as file,
        pytest.raises(HttpError, match="Too many concurrent exports"),
    ):
        file.write_line("line")
