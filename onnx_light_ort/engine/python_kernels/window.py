"""The geometry of a window that slides over the spatial dimensions of ``(N, C, *spatial)``: pads, sizes, views."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from onnx_light_ort.engine.python_kernels.kernel_node import Array, KernelNode

Pads = list[tuple[int, int]]

_KEPT_PLACEMENTS = 64

_BATCH_AND_CHANNELS = (slice(None), slice(None))


class WindowOfNode:
    """The window of a node, made anew only when the kernel's shape (that of the weights) changes."""

    def __init__(self, node: KernelNode) -> None:
        self._node = node
        self._window: Window | None = None

    def __call__(self, kernel: tuple[int, ...]) -> Window:
        window = self._window
        if window is None or window.kernel != kernel:
            window = self._window = Window.of(self._node, kernel)
        return window


@dataclass(frozen=True)
class Window:
    """One entry a spatial dimension; ``pads`` holds (begin, end), and is empty where ``auto_pad`` decides."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads: tuple[tuple[int, int], ...]
    auto_pad: str
    ceil_mode: bool = False
    placements: dict[tuple[int, ...], tuple[Pads, tuple[int, ...]]] = field(default_factory=dict, compare=False)

    @classmethod
    def of(cls, node: KernelNode, kernel: Sequence[int]) -> Window:
        rank = len(kernel)
        flat = node.attribute("pads") or [0] * (2 * rank)
        return cls(
            kernel=tuple(kernel),
            strides=tuple(node.attribute("strides") or [1] * rank),
            dilations=tuple(node.attribute("dilations") or [1] * rank),
            pads=tuple(zip(flat[:rank], flat[rank:], strict=True)),
            auto_pad=node.attribute("auto_pad", "NOTSET"),
            ceil_mode=bool(node.attribute("ceil_mode", 0)),
        )

    @property
    def extents(self) -> tuple[int, ...]:
        """The number of input elements that the dilated window spans."""
        return tuple((k - 1) * d + 1 for k, d in zip(self.kernel, self.dilations, strict=True))

    def placed_on(self, spatial: tuple[int, ...]) -> tuple[Pads, tuple[int, ...]]:
        """The pads and the output's size for an input's size; kept for the sizes of the last runs."""
        placement = self.placements.get(spatial)
        if placement is None:
            if len(self.placements) >= _KEPT_PLACEMENTS:
                self.placements.clear()
            placement = self.placements[spatial] = self._place(spatial)
        return placement

    def _place(self, spatial: tuple[int, ...]) -> tuple[Pads, tuple[int, ...]]:
        pads: Pads = []
        sizes: list[int] = []
        axes = zip(spatial, self.extents, self.strides, self.pads, strict=True)
        for length, extent, stride, explicit in axes:
            if self.auto_pad in ("SAME_UPPER", "SAME_LOWER"):
                size = -(-length // stride)
                total = max((size - 1) * stride + extent - length, 0)
                small, large = total // 2, total - total // 2
                pads.append((small, large) if self.auto_pad == "SAME_UPPER" else (large, small))
            else:
                begin, end = (0, 0) if self.auto_pad == "VALID" else explicit
                span = length + begin + end - extent
                size = span // stride + 1
                if self.ceil_mode:
                    size = -(-span // stride) + 1
                    # The last window has to start inside the input or its leading pad.
                    if (size - 1) * stride >= length + begin:
                        size -= 1
                pads.append((begin, end))
            sizes.append(max(size, 0))
        return pads, tuple(sizes)

    def reaching_pads(self, spatial: Sequence[int], pads: Pads, sizes: Sequence[int]) -> Pads:
        """The pads, with as much more at the end as the last window (of ``ceil_mode``) reaches beyond."""
        axes = zip(spatial, pads, sizes, self.extents, self.strides, strict=True)
        return [(b, max(e, (n - 1) * s + extent - length - b)) for length, (b, e), n, extent, s in axes]


def padded(x: Array, pads: Pads, value: float = 0) -> Array:
    """``x`` with its spatial dimensions padded; ``x`` itself where there is nothing to pad. Negative pads crop."""
    if not any(begin or end for begin, end in pads):
        return x
    lengths = tuple(n + begin + end for n, (begin, end) in zip(x.shape[2:], pads, strict=True))
    y = np.full(x.shape[:2] + lengths, value, x.dtype) if value else np.zeros(x.shape[:2] + lengths, x.dtype)
    target = [slice(max(b, 0), n - max(e, 0)) for n, (b, e) in zip(lengths, pads, strict=True)]
    source = [slice(max(-b, 0), n - max(-e, 0)) for n, (b, e) in zip(x.shape[2:], pads, strict=True)]
    y[_BATCH_AND_CHANNELS + tuple(target)] = x[_BATCH_AND_CHANNELS + tuple(source)]
    return y


def windows(x: Array, window: Window, sizes: Sequence[int]) -> Array:
    """A view of shape ``(N, C, *kernel, *sizes)``: element ``k`` of each window, over all window positions."""
    x = np.ascontiguousarray(x)
    spatial = x.strides[2:]
    taps = tuple(s * d for s, d in zip(spatial, window.dilations, strict=True))
    steps = tuple(s * d for s, d in zip(spatial, window.strides, strict=True))
    shape = x.shape[:2] + window.kernel + tuple(sizes)
    # The constructor takes a tenth of the time of as_strided.
    view: Array = np.ndarray(shape, x.dtype, x, 0, x.strides[:2] + taps + steps)
    return view


def tap(window: Window, position: Sequence[int], sizes: Sequence[int]) -> tuple[slice, ...]:
    """The index of what one element of the window visits in the padded input."""
    axes = zip(position, window.dilations, window.strides, sizes, strict=True)
    return _BATCH_AND_CHANNELS + tuple(slice(p * d, p * d + (n - 1) * s + 1, s) for p, d, s, n in axes)
