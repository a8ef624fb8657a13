"""ImageDecoder, with Pillow, which is optional."""

from __future__ import annotations

from importlib.util import find_spec
from io import BytesIO

import numpy as np

from onnx_light_ort.engine.errors import UnsupportedOperator
from onnx_light_ort.engine.python_kernels.fast_paths import fast_path
from onnx_light_ort.engine.python_kernels.kernel_node import Array, KernelNode, PythonKernel

_MODES = {"RGB": "RGB", "BGR": "RGB", "Grayscale": "L"}


@fast_path("ImageDecoder")
def _image_decoder(node: KernelNode) -> PythonKernel:
    """From the bytes of a file (BMP, JPEG, JPEG 2000, PNG, PNM, TIFF, WebP) to (height, width, channels)."""
    if find_spec("PIL") is None:
        raise UnsupportedOperator("ImageDecoder needs Pillow: run 'pip install Pillow'")
    pixel_format: str = node.attribute("pixel_format", "RGB")
    mode = _MODES[pixel_format]

    def kernel(encoded: Array) -> Array:
        from PIL import Image

        with Image.open(BytesIO(encoded.tobytes())) as image:
            pixels = np.asarray(image.convert(mode))
        if pixel_format == "BGR":
            pixels = pixels[..., ::-1]
        return pixels[..., None] if pixels.ndim == 2 else pixels

    return kernel
