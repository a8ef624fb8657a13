"""``onnx-light-ort run``: what it prints, for people and for programs, and its exit codes."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from onnx_models import model, node, value

from onnx_light_ort.cli import SUBCOMMANDS, main


@pytest.fixture
def path(tmp_path: Path) -> Path:
    proto = model(
        [node("Relu", ["x"], ["a"], name="r"), node("Neg", ["a"], ["y"], name="n")], [value("x", shape=["n", 4])]
    )
    file = tmp_path / "m.onnx"
    file.write_bytes(proto.SerializeToString())
    return file


def test_it_prints_one_json_object(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    x = np.array([[-1, 2, -3, 4]], np.float32)
    np.save(tmp_path / "x.npy", x)
    out = tmp_path / "out.npz"
    assert (
        main(["run", str(path), "--input", f"x={tmp_path / 'x.npy'}", "--repeat", "3", "--output", str(out), "--json"])
        == 0
    )
    report = json.loads(capsys.readouterr().out)
    assert report["outputs"] == [
        {"name": "y", "type": "float32", "shape": [1, 4], "min": -4.0, "max": -0.0, "mean": -1.5}
    ]
    assert len(report["run_ms"]) == 3
    assert sum(report["kernels"].values()) == 2
    np.testing.assert_array_equal(np.load(out)["y"], -np.maximum(x, 0))


def test_random_inputs_follow_seed_and_dimensions(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    reports = []
    for arguments in (["--dim", "n=3"], ["--dim", "n=3"], ["--dim", "n=3", "--seed", "1"]):
        assert main(["run", str(path), "--json", "--input", "random", *arguments]) == 0
        reports.append(json.loads(capsys.readouterr().out)["inputs"])
    assert reports[0][0]["shape"] == [3, 4]
    assert reports[0] == reports[1]
    assert reports[0] != reports[2]


def test_it_writes_a_profile(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace = tmp_path / "trace.json"
    assert main(["run", str(path), "--profile", str(trace)]) == 0
    printed = capsys.readouterr().out
    assert "r (Relu)" in printed
    assert "x: float32 [1, 4]" in printed
    assert {event["name"] for event in json.loads(trace.read_text())} >= {"r_kernel_time", "n_kernel_time", "model_run"}


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["--input", "q=x.npy"], "no input ['q']"),
        (["--input", "x=/nowhere.npy"], "nowhere.npy"),
        (["--dim", "q=3"], "no input has a dimension ['q']; they have ['n']"),
        (["--dim", "n=99999999999"], "Unable to allocate"),
        (["--memory-limit", "-5"], "memory_limit is -5"),
        (["--threads", "99999999"], "intra_op_num_threads is 99999999"),
    ],
)
def test_wrong_arguments_are_reported(
    path: Path, arguments: list[str], part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", str(path), *arguments]) == 1
    assert part in capsys.readouterr().err
    assert main(["run", str(path), "--json", *arguments]) == 1
    assert part in json.loads(capsys.readouterr().out)["message"]


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["--repeat", "0"], "invalid positive number value: '0'"),
        (["--repeat", "-1"], "invalid positive number value: '-1'"),
        (["--repeat", "many"], "invalid positive number value: 'many'"),
        (["--input", "nonsense"], "nonsense: give NAME=FILE.npy, or 'random'"),
        (["--dim", "n"], "n: give NAME=SIZE"),
        (["--dim", "n=many"], "n=many: give NAME=SIZE"),
    ],
)
def test_what_cannot_be_read_is_wrong_usage(
    path: Path, arguments: list[str], part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["run", str(path), *arguments])
    assert ended.value.code == 2
    assert part in capsys.readouterr().err


def test_outputs_of_any_name_are_written(tmp_path: Path) -> None:
    names = ["file", "allow_pickle", "a/b"]
    proto = model([node("Neg", ["x"], [name]) for name in names], outputs=[value(name) for name in names])
    (tmp_path / "m.onnx").write_bytes(proto.SerializeToString())
    np.save(tmp_path / "x.npy", np.array([[1, 2, 3, 4]], np.float32))
    arguments = ["--input", f"x={tmp_path / 'x.npy'}", "--output", str(tmp_path / "out.npz")]
    assert main(["run", str(tmp_path / "m.onnx"), *arguments]) == 0
    with np.load(tmp_path / "out.npz") as written:
        assert {name: written[name].tolist() for name in written} == {name: [[-1, -2, -3, -4]] for name in names}


def test_values_that_json_has_no_number_for_are_null(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = path.parent / "x.npy"
    np.save(file, np.array([[np.nan, 1, 2, 3]], np.float32))
    assert main(["run", str(path), "--input", f"x={file}", "--json"]) == 0
    printed = capsys.readouterr().out
    assert "NaN" not in printed
    assert json.loads(printed)["outputs"][0]["mean"] is None
    assert main(["run", str(path), "--input", f"x={file}"]) == 0
    assert "mean not finite" in capsys.readouterr().out


def test_a_model_that_is_not_there_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(tmp_path / "none.onnx")]) == 1
    assert "NoSuchFile" in capsys.readouterr().err


def test_every_subcommand_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    listed = capsys.readouterr().out
    for name in SUBCOMMANDS:
        assert name in listed
        with pytest.raises(SystemExit) as caught:
            main([name, "--help"])
        assert caught.value.code == 0
        assert "usage: onnx-light-ort " + name in capsys.readouterr().out


def test_progress_is_shown_on_a_terminal_only(path: Path, tmp_path: Path) -> None:
    script = (
        "import sys, time\n"
        "from onnx_light_ort.engine import session_plan\n"
        "slow = session_plan.infer_model\n"
        "session_plan.infer_model = lambda *given: (time.sleep(1.2), slow(*given))[1]\n"
        "from onnx_light_ort.cli import main\n"
        f"sys.exit(main(['run', {str(path)!r}]))\n"
    )
    leader, follower = pty.openpty()
    shown = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, stdout=subprocess.PIPE, stderr=follower, timeout=60
    )
    os.close(follower)
    assert shown.returncode == 0
    assert b"infer types" in os.read(leader, 10000)
    os.close(leader)
    quiet = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, timeout=60)
    assert quiet.returncode == 0
    assert quiet.stderr == b""
