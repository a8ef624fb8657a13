"""NonMaxSuppression: the highest-scoring boxes of each class that do not overlap a chosen one too much."""

from __future__ import annotations

import numpy as np

from onnx_light_ort.engine.python_kernels.fast_paths import fast_path
from onnx_light_ort.engine.python_kernels.kernel_node import Array, KernelNode, PythonKernel


def _corners(boxes: Array, center_point_box: bool) -> tuple[Array, Array]:
    """The lower and the upper corner of each box; given as two opposite corners, or as center and size."""
    first, second = boxes[..., :2], boxes[..., 2:]
    if center_point_box:
        return first - second / 2, first + second / 2
    return np.minimum(first, second), np.maximum(first, second)


def _chosen(lower: Array, upper: Array, scores: Array, candidates: Array, most: int, limit: float) -> list[int]:
    """Indices of the boxes that stay, best score first; of equal scores the lower index."""
    areas = np.prod(upper - lower, axis=-1)
    order = candidates[np.argsort(-scores[candidates], kind="stable")]
    chosen: list[int] = []
    while order.size and len(chosen) < most:
        best, order = order[0], order[1:]
        chosen.append(int(best))
        overlap = np.minimum(upper[best], upper[order]) - np.maximum(lower[best], lower[order])
        intersection = np.prod(np.maximum(overlap, 0), axis=-1)
        union = areas[best] + areas[order] - intersection
        # A box without an area suppresses nothing and is suppressed by nothing.
        order = order[(intersection <= 0) | (intersection <= limit * union)]
    return chosen


@fast_path("NonMaxSuppression")
def _non_max_suppression(node: KernelNode) -> PythonKernel:
    """Rows of (batch, class, box). Without a number of boxes for each class there are none."""
    center_point_box = bool(node.attribute("center_point_box", 0))

    def kernel(
        boxes: Array,
        scores: Array,
        most: Array | None = None,
        overlap_limit: Array | None = None,
        score_limit: Array | None = None,
    ) -> Array:
        count = 0 if most is None or not most.size else max(most.item(), 0)
        limit = 0.0 if overlap_limit is None or not overlap_limit.size else overlap_limit.item()
        lower, upper = _corners(boxes, center_point_box)
        rows = []
        for batch, category in np.ndindex(scores.shape[:2]):
            own = scores[batch, category]
            is_candidate = np.ones(own.shape, bool) if score_limit is None else own > score_limit.reshape(-1)
            found = _chosen(lower[batch], upper[batch], own, np.flatnonzero(is_candidate), count, limit)
            rows += [(batch, category, box) for box in found]
        return np.array(rows, np.int64).reshape(-1, 3)

    return kernel
