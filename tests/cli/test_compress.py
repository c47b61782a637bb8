"""`glnn compress` and `glnn decompress`: back to the same bytes, or refused before anything is written."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest

from glnn.cli.inputs import read
from glnn.cli.run_folder import open_model
from glnn.codec.event_log import put_together, taken_apart
from glnn.estimators import load
from glnn.sequences import ReadOptions
from tests.cli.conftest import LOG, MORE, SMALL, TUNES, Command

CUTTING = ReadOptions(format="csv", case="order", activity="step", time="at")


def test_a_text_comes_back(in_trained: Command, trained: Path) -> None:
    done = in_trained("compress", "tunes", "more.txt", "more.glnn", "--json")
    assert done.code == 0
    size = (trained / "more.glnn").stat().st_size
    assert done.json == {"file": "more.txt", "bytes": len(MORE), "out": "more.glnn", "compressed_bytes": size}
    back = in_trained("decompress", "tunes", "more.glnn", "back.txt", "--json")
    assert (back.code, back.json["bytes"]) == (0, len(MORE))
    assert (trained / "back.txt").read_text() == MORE
    assert (
        load(trained / "tunes" / "model.safetensors").decompress((trained / "more.glnn").read_bytes()) == MORE.encode()
    )
    shown = in_trained("compress", "tunes", "more.txt", "other.glnn").out
    assert f"{size:,} bytes" in shown
    assert f"{8 * size / len(MORE):.3f} bits per byte" in shown
    assert f"{len(MORE):,} bytes" in in_trained("decompress", "tunes", "other.glnn", "other.txt").out


def test_standard_input(glnn: Command, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def given(content: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    given(TUNES.encode())
    done = glnn("compress", "-", "tunes.glnn", "--json")
    assert (done.code, done.json["file"], done.json["bytes"]) == (0, "-", len(TUNES))
    given((files / "tunes.glnn").read_bytes())
    assert glnn("decompress", "-", "back.txt").code == 0
    assert (files / "back.txt").read_text() == TUNES


@pytest.mark.parametrize("run", [(), ("tunes",)])
def test_standard_output(run: tuple[str, ...], trained: Path) -> None:
    def piped(*arguments: str, given: bytes) -> bytes:
        command = [sys.executable, "-c", "from glnn.cli import main; main()", *arguments]
        return subprocess.run(command, cwd=trained, input=given, capture_output=True, check=True).stdout

    packed = piped("compress", *run, "-", "-", given=MORE.encode())
    assert piped("decompress", *run, "-", "-", given=packed) == MORE.encode()
    assert not (trained / "-").exists()


def test_standard_output_has_no_room_for_json(in_trained: Command) -> None:
    done = in_trained("compress", "more.txt", "-", "--json")
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)


def test_words_with_their_white_space(glnn: Command, files: Path) -> None:
    text = "\ufeff  the cat\r\n\tthe   dog\n\nthe end" * 5
    (files / "words.txt").write_bytes(text.encode())
    assert glnn("train", "words.txt", "--tokens", "words", *SMALL, "--budget", "2 steps", "--run", "w").code == 0
    assert glnn("compress", "w", "words.txt", "out").code == 0
    assert glnn("decompress", "w", "out", "back").code == 0
    assert (files / "back").read_bytes() == text.encode()


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_an_event_log_with_all_its_columns(ends: str, in_trained: Command, trained: Path) -> None:
    content = LOG.replace("2,pay,5,bob", '2,"pay",5,"bo\nb ""x"""').replace("\n", ends).encode()
    (trained / "full.csv").write_bytes(content)
    assert in_trained("compress", "orders", "full.csv", "full.glnn").code == 0
    assert (trained / "full.glnn").stat().st_size < len(content)
    done = in_trained("decompress", "orders", "full.glnn", "back.csv")
    assert done.code == 0
    assert (trained / "back.csv").read_bytes() == content


def test_an_event_log_with_one_case_and_a_new_activity(in_trained: Command, trained: Path) -> None:
    content = 'order,step,at,who\n7,order,1,x\n7,a "new" one,2,x'
    (trained / "one.csv").write_text(content)
    assert in_trained("compress", "orders", "one.csv", "one.glnn").code == 0
    assert in_trained("decompress", "orders", "one.glnn", "back.csv").code == 0
    assert (trained / "back.csv").read_text() == content


@pytest.mark.small
@pytest.mark.parametrize(
    "text",
    [
        "order,step,at\n1,b,2\n1,a,1\n2,c,1\n",
        'who,"step",order,at\n"x,y",b,1,5\n\n"say ""b""",a,1,4\nz,"c ""d""\n,e",2,1',
        "\ufefforder,at,step\r\n1,1,a\r\n1,1,b\r\n",
        "order,step,at\r1,b,2\r",
        'order,step,at\n1,"b"x,2\n',
    ],
)
def test_logs_are_taken_apart_and_put_together(text: str, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_bytes(text.encode())
    rest, found = taken_apart(text, CUTTING)
    cases = [list(case) for case in read(path, CUTTING).content]
    assert len(found) == sum(map(len, cases))
    together = put_together(rest, CUTTING, cases)
    if '"b"x' in text:
        # The reader joins both parts: such a field cannot be told from what it says, and is refused.
        assert together != text
    else:
        assert together == text
        assert len(rest) < len(text)


def test_a_log_that_would_not_come_back_is_refused(in_trained: Command, trained: Path) -> None:
    (trained / "odd.csv").write_text('order,step,at,who\n1,"or"der,2,x\n')
    done = in_trained("compress", "orders", "odd.csv", "out")
    assert (done.code, "would not come back exactly" in done.err) == (2, True)
    assert not (trained / "out").exists()


def test_nothing_is_replaced_and_nothing_half_is_left(in_trained: Command, trained: Path) -> None:
    (trained / "out").write_text("precious")
    done = in_trained("compress", "tunes", "more.txt", "out")
    assert (done.code, "exists already" in done.err) == (2, True)
    assert in_trained("decompress", "tunes", "out", "out").code == 2
    assert (trained / "out").read_text() == "precious"
    assert in_trained("compress", "tunes", "more.txt", "out", "--force").code == 0
    assert in_trained("compress", "tunes", "gone.txt", "other").code == 2
    assert not (trained / "other").exists()


def test_a_file_alone(glnn: Command, files: Path) -> None:
    done = glnn("compress", "tunes.txt", "tunes.glnn", "--json")
    assert done.code == 0 and done.json["compressed_bytes"] == (files / "tunes.glnn").stat().st_size < len(TUNES)
    assert glnn("decompress", "tunes.glnn", "back.txt").code == 0
    assert (files / "back.txt").read_bytes() == (files / "tunes.txt").read_bytes()
    assert "FILE OUT" in glnn("compress", "tunes.txt").err
    assert glnn("compress", "gone.txt", "out").code == 2 and not (files / "out").exists()
    assert glnn("decompress", "tunes.txt", "out").code == 2 and not (files / "out").exists()
    assert glnn("decompress", "tunes.glnn", "back.txt").code == 2


@pytest.mark.parametrize(
    "given", [["tunes.txt", "out"], ["tunes", "more.txt", "out"], ["orders", "log.csv", "out"]], ids=len
)
def test_without_the_check(
    given: list[str], in_trained: Command, trained: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked = []
    with monkeypatch.context() as patched:
        for place in ("glnn.codec.alone._read", "glnn.codec.files.restore", "glnn.codec.message.check"):
            patched.setattr(place, lambda *given_, **_: checked.append(given_))
        assert in_trained("compress", *given, "--no-verify").code == 0 and not checked
    assert in_trained("decompress", *given[:-2], "out", "back", "--force").code == 0
    assert (trained / "back").read_bytes() == (trained / given[-2]).read_bytes()
    (trained / "out").unlink()


def test_what_was_compressed_by_something_else(in_trained: Command, trained: Path) -> None:
    assert in_trained("compress", "tunes", "more.txt", "text.glnn").code == 0
    assert in_trained("compress", "orders", "log.csv", "log.glnn").code == 0
    content = bytearray((trained / "log.glnn").read_bytes())
    content[40] ^= 1
    (trained / "damaged.glnn").write_bytes(bytes(content))
    (trained / "short.glnn").write_bytes(bytes(content[:12]))
    for run, name, message in (
        ("orders", "text.glnn", "not a compressed event log"),
        ("tunes", "log.glnn", ""),
        ("orders", "damaged.glnn", "damaged"),
        ("orders", "short.glnn", "damaged"),
        ("tunes", "more.txt", ""),
    ):
        done = in_trained("decompress", run, name, "out")
        assert (done.code, done.err.count("\n")) == (2, 1), name
        assert message in done.err
        assert not (trained / "out").exists()


def test_activities_that_do_not_fit_the_log() -> None:
    rest, _ = taken_apart("order,step,at\n1,a,1\n", CUTTING)
    with pytest.raises(ValueError, match="do not fit the cases"):
        put_together(rest, CUTTING, [["a", "b"]])


def test_the_model_of_a_run_is_read_as_its_data_were(trained: Path) -> None:
    _, cutting = open_model(trained / "orders")
    assert (cutting.case, cutting.activity, cutting.time) == ("order", "step", "at")
    _, cutting = open_model(trained / "tunes" / "model.safetensors")
    assert cutting.tokens == "chars"
