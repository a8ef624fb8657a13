"""Cast and CastLike between the types that numpy converts as ONNX does.

Strings, and the narrow types that saturate, are left to the reference.
"""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from onnx_light_ort.engine.python_kernels.fast_paths import fast_path
from onnx_light_ort.engine.python_kernels.kernel_node import KernelNode, PythonKernel
from onnx_light_ort.engine.value_type import numpy_dtype

_PLAIN = frozenset(
    {
        TensorProto.FLOAT,
        TensorProto.DOUBLE,
        TensorProto.FLOAT16,
        TensorProto.BFLOAT16,
        TensorProto.BOOL,
        TensorProto.INT8,
        TensorProto.INT16,
        TensorProto.INT32,
        TensorProto.INT64,
        TensorProto.UINT8,
        TensorProto.UINT16,
        TensorProto.UINT32,
        TensorProto.UINT64,
    }
)


@fast_path("Cast", "CastLike")
def _cast(node: KernelNode) -> PythonKernel | None:
    target = node.attribute("to") if node.op_type == "Cast" else node.input_type(1)
    if isinstance(target, str):
        target = TensorProto.DataType.Value(target)
    if node.input_type(0) not in _PLAIN or target not in _PLAIN:
        return None
    dtype = numpy_dtype(target)
    return lambda x, *_: np.asarray(x).astype(dtype, copy=False)
