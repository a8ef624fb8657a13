"""Extents, pads and repeats beyond what 64 bits or memory hold are refused by name, before any work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto

from onnx_light_ort import errors

Array = np.ndarray[Any, np.dtype[Any]]
RunNative = Callable[..., list[Array]]

FLOAT = [TensorProto.FLOAT]
MOST = 2**63 - 1
LINE = np.arange(8, dtype=np.float32).reshape(1, 1, 8)
KERNEL = np.ones((1, 1, 3), np.float32)


def int64(*values: int) -> Array:
    return np.array(values, np.int64)


@pytest.mark.parametrize("op_type", ["MaxPool", "AveragePool"])
@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"kernel_shape": [2**62], "auto_pad": "SAME_UPPER", "strides": [2]}, f"kernel_shape has the value {2**62}"),
        ({"kernel_shape": [0]}, "kernel_shape has the value 0"),
        ({"kernel_shape": [3], "pads": [-MOST, MOST]}, f"pads has the value {-MOST}"),
        ({"kernel_shape": [3], "pads": [0, 2**31]}, f"pads has the value {2**31}"),
        ({"kernel_shape": [3], "strides": [2**31]}, f"strides has the value {2**31}"),
        ({"kernel_shape": [3], "strides": [0]}, "strides has the value 0"),
        ({"kernel_shape": [3], "dilations": [2**62]}, f"dilations has the value {2**62}"),
        ({"kernel_shape": [3], "pads": [-9, 9]}, "crop more than there is"),
    ],
)
def test_pooling_refuses_a_window_out_of_range_by_attribute_and_value(
    run_native: RunNative, op_type: str, attributes: dict[str, Any], message: str
) -> None:
    with pytest.raises(Exception, match=f"{op_type}: .*{message}"):
        run_native(op_type, 22, [LINE], FLOAT, **attributes)


def test_a_pooling_window_far_larger_than_its_input_covers_all_of_it(run_native: RunNative) -> None:
    attributes = {"kernel_shape": [2**31 - 1], "auto_pad": "SAME_UPPER", "strides": [2**31 - 1]}
    (got,) = run_native("MaxPool", 22, [LINE], FLOAT, **attributes)
    np.testing.assert_array_equal(got, [[[7]]])


def test_a_pooling_kernel_of_more_elements_than_64_bits_count_is_refused(run_native: RunNative) -> None:
    cube = np.ones((1, 1, 2, 2, 2), np.float32)
    with pytest.raises(Exception, match=r"MaxPool: a kernel of shape .* has too many elements"):
        run_native("MaxPool", 22, [cube], FLOAT, kernel_shape=[2**30, 2**30, 2**4], auto_pad="SAME_UPPER")


@pytest.mark.parametrize("op_type", ["Conv", "ConvTranspose"])
@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"pads": [MOST, MOST]}, f"pads has the value {MOST}"),
        ({"dilations": [2**62]}, f"dilations has the value {2**62}"),
        ({"strides": [2**62]}, f"strides has the value {2**62}"),
        ({"strides": [-1]}, "strides has the value -1"),
    ],
)
def test_convolution_refuses_a_window_out_of_range_by_attribute_and_value(
    run_native: RunNative, op_type: str, attributes: dict[str, Any], message: str
) -> None:
    with pytest.raises(Exception, match=f"{op_type}: {message}"):
        run_native(op_type, 22, [LINE, KERNEL], FLOAT, **attributes)


@pytest.mark.parametrize("padding", [MOST, -1])
def test_transposed_convolution_refuses_output_padding_out_of_range(run_native: RunNative, padding: int) -> None:
    with pytest.raises(Exception, match=f"ConvTranspose: output_padding has the value {padding}"):
        run_native("ConvTranspose", 22, [LINE, KERNEL], FLOAT, strides=[2], output_padding=[padding])


def test_transposed_convolution_refuses_a_kernel_without_elements(run_native: RunNative) -> None:
    with pytest.raises(Exception, match="ConvTranspose: kernel_shape has the value 0"):
        run_native("ConvTranspose", 22, [LINE, KERNEL[..., :0]], FLOAT)


def test_depthwise_convolution_with_large_strides_and_dilations_reads_the_image_where_it_lies(
    run_native: RunNative,
) -> None:
    image = np.arange(8, dtype=np.float32).reshape(1, 2, 2, 2) + 1
    weights = np.arange(18, dtype=np.float32).reshape(2, 1, 3, 3)
    reach = 2**30
    attributes = {"dilations": [reach] * 2, "pads": [reach] * 4, "strides": [2**31 - 1] * 2, "group": 2}
    (got,) = run_native("Conv", 22, [image, weights], FLOAT, **attributes)
    # One position: only the kernel's middle lies on the image, on its first element.
    np.testing.assert_array_equal(got, (image[:, :, :1, :1].ravel() * weights[:, 0, 1, 1]).reshape(1, 2, 1, 1))


@pytest.mark.parametrize("op_type", ["Conv", "ConvTranspose"])
def test_convolution_of_four_spatial_dimensions_is_declined_when_constant_weights_tell(
    run_native: RunNative, op_type: str
) -> None:
    weights = np.ones((1, 1, 1, 1, 1, 1), np.float32)
    with pytest.raises(errors.NotImplemented, match=f"{op_type}: more than three spatial dimensions"):
        run_native(op_type, 22, [LINE, weights], FLOAT, constant=(1,))  # computing would refuse the input's shape


@pytest.mark.parametrize(
    ("op_type", "inputs", "message"),
    [
        ("Tile", [np.ones((4, 4), np.float32), int64(2**62, 1)], f"Tile: 4 . {2**62} overflows"),
        ("Pad", [np.ones(4, np.float32), int64(MOST, MOST)], f"Pad: 4 . {MOST} overflows"),
        ("Pad", [np.ones(4, np.float32), int64(-MOST - 1, MOST)], "Pad: .* (do not fit|overflows)"),
        (
            "Expand",
            [np.ones(1, np.float32), int64(274177, 67280421310721)],
            "Expand: .* too many elements",
        ),  # 2**64 + 1
        ("Resize", [np.ones(4, np.float32), None, np.array([1e30], np.float32)], "Resize: scale .* too many elements"),
        ("Reshape", [np.ones(1, np.float32), int64(274177, 67280421310721)], "Reshape: .* cannot take the shape"),
        ("ConstantOfShape", [int64(2**33, 2**33)], "product overflows"),
        ("Resize", [np.ones((1, 1), np.float32), None, None, int64(2**33, 2**33)], "product overflows"),
    ],
)
def test_output_shapes_that_overflow_are_refused(
    run_native: RunNative, op_type: str, inputs: list[Array | None], message: str
) -> None:
    with pytest.raises(Exception, match=message):
        run_native(op_type, 19, inputs, FLOAT)


def test_concatenation_refuses_extents_whose_sum_overflows(run_native: RunNative) -> None:
    long = np.empty((0, 2**61), np.uint8)
    with pytest.raises(Exception, match=rf"Concat: \d+ \+ {2**61} overflows"):
        run_native("Concat", 13, [long] * 4, [TensorProto.UINT8], axis=1)


@pytest.mark.parametrize("mode", ["constant", "wrap"])
def test_padding_to_more_elements_than_64_bits_count_does_no_work(run_native: RunNative, mode: str) -> None:
    x = np.ones((2, 2), np.float32)
    with pytest.raises(Exception, match="product overflows"):
        run_native("Pad", 19, [x, int64(2**40, 2**40, 0, 0)], FLOAT, mode=mode)


def test_an_empty_result_of_padding_costs_nothing_however_long_its_other_dimensions(run_native: RunNative) -> None:
    (got,) = run_native("Pad", 19, [np.empty((0, 2), np.float32), int64(0, 2**40, 0, 0)], FLOAT)
    assert got.shape == (0, 2**40 + 2)


def test_split_refuses_sizes_whose_sum_wraps_around_to_the_extent(run_native: RunNative) -> None:
    x = np.ones((0, 2), np.float32)
    with pytest.raises(Exception, match=r"Split: sizes .* do not split"):
        run_native("Split", 18, [x, int64(MOST, MOST, 4)], FLOAT * 3, axis=1)


def test_range_of_integers_steps_across_the_whole_type(run_native: RunNative) -> None:
    ends = [np.array(v, np.int64) for v in (-(2**63), MOST, 2**62)]
    (got,) = run_native("Range", 11, ends, [TensorProto.INT64])
    assert got.tolist() == [-(2**63), -(2**62), 0, 2**62]
