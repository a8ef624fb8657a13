"""Weights in files beside the model: only below its folder, of the right length, mapped instead of read."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper
from onnx_models import BOOL, model, node, value

import onnx_light_ort as ort

X = np.zeros((1, 4), np.float32)
WEIGHTS = np.arange(4, dtype=np.float32)


def external(
    name: str, location: str | None, dims: tuple[int, ...] = (4,), data_type: int = 1, **entries: object
) -> TensorProto:
    tensor = TensorProto(name=name, data_type=data_type, dims=dims, data_location=TensorProto.EXTERNAL)
    for key, entry in {"location": location, **entries}.items():
        if entry is not None:
            tensor.external_data.add(key=key, value=str(entry))
    return tensor


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model's folder with weights inside and outside of it, and links."""
    inside = tmp_path / "model"
    (inside / "sub").mkdir(parents=True)
    WEIGHTS.tofile(inside / "w.bin")
    WEIGHTS.tofile(tmp_path / "outside.bin")
    (inside / "link_out.bin").symlink_to("../outside.bin")
    (inside / "link_in.bin").symlink_to("w.bin")
    (inside / "sub_out").symlink_to("..")
    return inside


def load(folder: Path, tensor: TensorProto) -> ort.InferenceSession:
    path = folder / "m.onnx"
    path.write_bytes(model([node("Add", ["x", "w"], ["y"], name="n")], initializers=[tensor]).SerializeToString())
    return ort.InferenceSession(str(path))


@pytest.mark.parametrize("location", ["w.bin", "link_in.bin", "sub/../w.bin", "./w.bin"])
def test_files_below_the_folder_are_read(folder: Path, location: str) -> None:
    np.testing.assert_array_equal(load(folder, external("w", location)).run(None, {"x": X})[0], [WEIGHTS])


@pytest.mark.parametrize(
    ("location", "part"),
    [
        ("../outside.bin", "outside the model's folder"),
        ("sub/../../outside.bin", "outside the model's folder"),
        ("link_out.bin", "outside the model's folder"),
        ("sub_out/outside.bin", "outside the model's folder"),
        ("/etc/hostname", "absolute path"),
        ("nope.bin", "no file"),
        ("sub", "no file"),
        ("", "no location"),
        (None, "no location"),
    ],
)
def test_everything_else_is_refused(folder: Path, location: str | None, part: str) -> None:
    with pytest.raises(ort.Fail, match=part) as caught:
        load(folder, external("w", location))
    assert "'w'" in str(caught.value)


@pytest.mark.parametrize(
    ("fields", "part"),
    [
        ({"dims": (8,)}, "which has only 16"),
        ({"length": 8}, "length 8"),
        ({"length": 32}, "length 32"),
        ({"offset": 4}, "needs bytes 4 to 20"),
        ({"offset": 2**62}, "which has only 16"),
        ({"offset": -4}, "'-4'"),
        ({"offset": "abc"}, "'abc'"),
        ({"dims": (-4,)}, "negative dimension"),
        ({"dims": (2**40, 2**40)}, "more elements than int64"),
        ({"dims": (2**61,)}, "more bytes|which has only"),
        ({"data_type": 99}, "element type 99"),
    ],
    ids=str,
)
def test_lengths_are_checked_before_anything_is_allocated(folder: Path, fields: dict[str, object], part: str) -> None:
    with pytest.raises(ort.Fail, match=part) as caught:
        load(folder, external("w", "w.bin", **fields))  # type: ignore[arg-type]
    assert "'w'" in str(caught.value)


def test_an_offset_selects_the_bytes(folder: Path) -> None:
    np.arange(100, dtype=np.float32).tofile(folder / "many.bin")
    session = load(folder, external("w", "many.bin", offset=40, length=16))
    np.testing.assert_array_equal(session.run(None, {"x": X})[0], [[10, 11, 12, 13]])
    # Not aligned for its type: copied, not misread.
    (folder / "odd.bin").write_bytes(b"\0" + WEIGHTS.tobytes())
    np.testing.assert_array_equal(
        load(folder, external("w", "odd.bin", offset=1, length=16)).run(None, {"x": X})[0], [WEIGHTS]
    )


def test_strings_are_never_external(folder: Path) -> None:
    with pytest.raises(ort.Fail, match="external tensor 'w' holds strings"):
        load(folder, external("w", "w.bin", data_type=TensorProto.STRING))


def test_a_model_given_as_bytes_has_no_folder(folder: Path) -> None:
    proto = model([node("Add", ["x", "w"], ["y"])], initializers=[external("w", "w.bin")])
    with pytest.raises(ort.Fail, match="given as bytes"):
        ort.InferenceSession(proto.SerializeToString())


def test_external_tensors_in_subgraphs_keep_to_the_same_rules(folder: Path) -> None:
    def conditional(location: str) -> ort.InferenceSession:
        # Both branches have a tensor of the same name and another value.
        branches = [
            helper.make_graph(
                [node("Add", ["x", "w"], ["t"])],
                "b",
                [],
                [value("t")],
                initializer=[external("w", location, offset=offset, length=16)],
            )
            for offset in (0, 16)
        ]
        proto = model(
            [node("If", ["c"], ["y"], name="if", then_branch=branches[0], else_branch=branches[1])],
            [value("c", BOOL, []), value("x")],
        )
        path = folder / "m.onnx"
        path.write_bytes(proto.SerializeToString())
        return ort.InferenceSession(str(path))

    np.arange(8, dtype=np.float32).tofile(folder / "two.bin")
    session = conditional("two.bin")
    for condition, expected in ((True, [0, 1, 2, 3]), (False, [4, 5, 6, 7])):
        np.testing.assert_array_equal(session.run(None, {"x": X, "c": np.array(condition)})[0], [expected])
    with pytest.raises(ort.Fail, match="outside the model's folder"):
        conditional("../outside.bin")


LOADER = """
import resource, sys
import numpy, onnx
import onnx_light_ort as ort
tiny = ort.InferenceSession(sys.argv[2])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
session = ort.InferenceSession(sys.argv[1])
y = session.run(None, {"x": numpy.ones((1, 1024), numpy.float32)})[0]
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024, float(y[0, 0]))
"""


@pytest.mark.parametrize("kind", ["external", "inside"])
def test_weights_take_their_own_size_in_memory_once(tmp_path: Path, kind: str) -> None:
    count, rows = 16, 4096  # 16 times 16 MiB
    # Names of every length, so that most tensors inside of the model are not aligned.
    names = ["w" * (index + 1) for index in range(count)]
    nodes = [node("Gather", [name, "i"], [f"r{index}"], name=f"g{index}") for index, name in enumerate(names)]
    nodes += [node("Sum", ["x", *(f"r{index}" for index in range(count))], ["y"])]
    data = np.ones((rows, 1024), np.float32)
    if kind == "external":
        tensors = []
        with (tmp_path / "w.bin").open("wb") as file:
            for name in names:
                tensors.append(external(name, "w.bin", data.shape, offset=file.tell(), length=data.nbytes))
                data.tofile(file)
    else:
        tensors = [TensorProto(name=name, data_type=1, dims=data.shape, raw_data=data.tobytes()) for name in names]
    index = helper.make_tensor("i", TensorProto.INT64, [1], [5])
    proto = model(nodes, [value("x", shape=[1, 1024])], [value("y", shape=[1, 1024])], [*tensors, index])
    (tmp_path / "m.onnx").write_bytes(proto.SerializeToString())
    (tmp_path / "tiny.onnx").write_bytes(model([node("Sum", ["x", "x"], ["y"])]).SerializeToString())
    del proto, tensors
    done = subprocess.run(
        [sys.executable, "-c", LOADER, str(tmp_path / "m.onnx"), str(tmp_path / "tiny.onnx")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    grown, result = map(float, done.stdout.split())
    assert result == 1 + count
    assert grown <= 1.1 * count * data.nbytes + 16e6
