"""How an ORT runtime is recognised, so that none is ever loaded."""

from __future__ import annotations

import re

API_BASE_EXPORT = "OrtGetApiBase"
"""The export by which a library is an ORT runtime, whatever its file is called."""

PROVIDER_HOST_IMPORT = "Provider_GetHost"
"""The import by which a library is a provider of ORT's own, which reaches into the runtime past the C ABI."""

# libonnxruntime_ggml.so and its like are plugins, and so is libonnxruntime_providers_cuda_plugin.so: only the runtime's
# own names count, and a provider is told by what it needs (libonnxruntime_providers_shared.so) and imports. Wheels add
# a hash to the name of a library that they bundle (libonnxruntime-1a2b3c4d.so.1.29.0).
_NAMES = re.compile(
    r"(lib)?onnxruntime(-[0-9a-f]{6,})?(\.so(\.[\d.]+)?|(\.[\d.]+)?\.dylib|\.dll)"
    r"|(lib)?onnxruntime_providers_shared(-[0-9a-f]{6,})?\.(so(\.[\d.]+)?|dylib|dll)"
    r"|(lib)?onnxruntime_training\.(so(\.[\d.]+)?|dylib|dll)"
    r"|(lib)?onnxruntime4j_jni\.(so|dylib|dll)"
    r"|onnxruntime_pybind11_state[\w.-]*\.(so|pyd)",
    re.IGNORECASE,
)


def is_runtime_name(file_name: str) -> bool:
    """Whether a file of this name is of ORT: its runtime, the host of its providers, its Python or Java binding."""
    return _NAMES.fullmatch(file_name) is not None
