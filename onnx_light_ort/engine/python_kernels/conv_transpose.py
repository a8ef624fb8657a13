"""ConvTranspose: each input element adds a scaled copy of the kernel to the output."""

from __future__ import annotations

import numpy as np

from onnx_light_ort.engine.python_kernels.convolution import per_channel
from onnx_light_ort.engine.python_kernels.fast_paths import fast_path
from onnx_light_ort.engine.python_kernels.kernel_node import Array, KernelNode, PythonKernel
from onnx_light_ort.engine.python_kernels.window import Pads, Window, WindowOfNode, padded, tap


def _output_pads(node: KernelNode, window: Window, spatial: tuple[int, ...]) -> Pads:
    """What is cut off each end of the full output, as the specification's equations for the three ways say."""
    extra = node.attribute("output_padding") or [0] * len(spatial)
    output_shape = node.attribute("output_shape")
    pads: Pads = []
    axes = enumerate(zip(spatial, window.strides, window.extents, window.pads, extra, strict=True))
    for axis, (length, stride, extent, explicit, added) in axes:
        if output_shape is None and window.auto_pad not in ("SAME_UPPER", "SAME_LOWER"):
            begin, end = (0, 0) if window.auto_pad == "VALID" else explicit
            pads.append((begin, end - added))
            continue
        # output_shape may carry the batch and channel dimensions too.
        size = length * stride if output_shape is None else output_shape[axis - len(spatial)]
        total = stride * (length - 1) + added + extent - size
        if window.auto_pad == "SAME_UPPER":
            pads.append((total // 2, total - total // 2 - added))
        else:
            pads.append((total - total // 2, total // 2 - added))
    return pads


def transposed_convolution(x: Array, w: Array, window: Window, group: int, cut: Pads) -> Array:
    """``x`` (N, C, *spatial), ``w`` (C, M / group, *kernel); ``cut`` is taken off the ends (negative: added)."""
    batch, channels = x.shape[:2]
    outputs = w.shape[1] * group
    weights = w.reshape(group, channels // group, -1).transpose(0, 2, 1)
    copies = np.matmul(weights, x.reshape(batch, group, channels // group, -1))
    copies = copies.reshape(batch, outputs, -1, *x.shape[2:])
    sizes = x.shape[2:]
    full = [(n - 1) * s + extent for n, s, extent in zip(sizes, window.strides, window.extents, strict=True)]
    y = np.zeros((batch, outputs, *full), x.dtype)
    # In the output, the taps of one input element lie as the elements of a convolution's window do in its input.
    for index, position in enumerate(np.ndindex(window.kernel)):
        y[tap(window, position, sizes)] += copies[:, :, index]
    return padded(y, [(-begin, -end) for begin, end in cut])


@fast_path("ConvTranspose")
def _conv_transpose(node: KernelNode) -> PythonKernel:
    group: int = node.attribute("group", 1)
    window_of = WindowOfNode(node)

    def kernel(x: Array, w: Array, b: Array | None = None) -> Array:
        window = window_of(w.shape[2:])
        dtype = x.dtype
        if dtype.itemsize < 4:
            x, w = x.astype(np.float32), w.astype(np.float32)
        y = transposed_convolution(x, w, window, group, _output_pads(node, window, x.shape[2:]))
        if b is not None:
            y += per_channel(b, y.ndim - 2)
        return y.astype(dtype, copy=False)

    return kernel
