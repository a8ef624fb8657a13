"""Loads a model: bytes or a file to a resolved :class:`Graph`, weights left where they are."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from typing import Any

from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto

from onnx_light_ort.engine.attribute import attribute_value
from onnx_light_ort.engine.constant import Constant, check_data_length, checked_byte_size, element_count
from onnx_light_ort.engine.external_data import ExternalData, map_file
from onnx_light_ort.engine.graph import Graph, Model, Node
from onnx_light_ort.engine.graph_building import add_nodes, resolve_inputs, resolve_name, sort_nodes
from onnx_light_ort.engine.model_skeleton import Skeleton, split_model
from onnx_light_ort.engine.operator_schema import known_domains
from onnx_light_ort.engine.value_type import STRING, element_type_name
from onnx_light_ort.errors import Fail, InvalidArgument, InvalidGraph, InvalidProtobuf, NoSuchFile

_log = logging.getLogger("onnx_light_ort")

#: Tensors of subgraphs from this size on are taken out of the subgraph's proto.
_HOISTED_FROM = 1024

_MAX_OPSET = 2**31 - 1

#: The newest IR version whose rules this loader knows.
NEWEST_IR_VERSION = 14

ModelSource = str | os.PathLike[str] | bytes | bytearray | memoryview | ModelProto


def load_model(source: ModelSource) -> Model:
    """Reads a model and resolves its names.

    Raises:
        NoSuchFile, InvalidProtobuf, InvalidArgument, InvalidGraph, Fail: the class that ORT's Python package raises for
            the same fault; the message names the node or value.
    """
    if isinstance(source, ModelProto):
        # The loader takes big tensors out of subgraphs, and nodes keep their protos: neither is the caller's to see.
        proto = ModelProto()
        proto.CopyFrom(source)
        return _Loader(Skeleton(proto, b"", []), None, None).load()
    if isinstance(source, bytes | bytearray | memoryview):
        return _Loader(split_model(memoryview(source)), None, None).load()
    if not isinstance(source, str | os.PathLike):
        raise TypeError(f"cannot load a model from {type(source).__name__}: pass a path, bytes or a ModelProto")
    path = os.fspath(source)
    try:
        data = map_file(path)
    except (OSError, ValueError) as error:
        if not os.path.exists(path):
            raise NoSuchFile(f"no model file {path!r}") from error
        reason = error.strerror if isinstance(error, OSError) else error
        raise InvalidProtobuf(f"cannot read a model from {path!r}: {reason}") from error
    return _Loader(split_model(data), path, os.path.dirname(path) or os.curdir).load()


class EmbeddedTensors:
    """Builds graphs whose tensors all lie in their protos, such as the bodies of functions."""

    def __init__(self, ir_version: int = NEWEST_IR_VERSION) -> None:
        self._ir_version = ir_version

    def graph(self, proto: GraphProto, holder: Node | None, imports: Mapping[str, int]) -> Graph:
        graph = Graph(proto.name, holder)
        self._add_inputs(graph, proto)
        if holder is not None:
            for name, given_name, constant in self.hoisted_constants(proto):
                self._add_initializer(graph, name, constant)
                graph.hoisted[graph.values[name]] = given_name
        for tensor in proto.initializer:
            self._add_initializer(graph, tensor.name, self.constant(tensor, tensor.name))
        for sparse in proto.sparse_initializer:
            self._add_initializer(graph, sparse.values.name, _dense_of_sparse(sparse))
        graph.nodes = add_nodes(graph, proto.node, imports, self)
        if not resolve_inputs(graph, graph.nodes, self):
            sort_nodes(graph)
        for name in graph.values:
            if type(name) is not str:
                raise InvalidGraph(
                    f"value {name!r} of graph {graph.name!r} has a name that is no UTF-8: the model is damaged"
                )
        for info in proto.value_info:
            value = graph.values.get(info.name)
            if value is not None and value.type_proto is None and info.HasField("type"):
                value.set_type(info.type)
        for info in proto.output:
            value = resolve_name(graph, info.name)
            if value is None:
                raise Fail(
                    f"graph output {info.name!r} is made by no node, input or initializer of graph {graph.name!r}"
                )
            if value.type_proto is None and info.HasField("type"):
                value.set_type(info.type)
            graph.outputs.append(value)
        return graph

    def _add_inputs(self, graph: Graph, proto: GraphProto) -> None:
        for info in proto.input:
            if info.name in graph.values:
                raise Fail(f"duplicate definition of {info.name!r}: two inputs of graph {graph.name!r} have that name")
            value = graph.add_value(info.name)
            value.is_input = True
            if info.HasField("type") and info.type.WhichOneof("value") is not None:
                value.set_type(info.type)
                if value.element_type and element_type_name(value.element_type) == "undefined":
                    raise InvalidArgument(
                        f"input {info.name!r} of graph {graph.name!r} has the element type {value.element_type}, which "
                        "ONNX does not define: re-export the model"
                    )
            elif graph.holder is None:
                raise Fail(f"model input {info.name!r} has no type: declare its element type")
            graph.inputs.append(value)
            graph.declared_inputs.append(value)

    def _add_initializer(self, graph: Graph, name: str, constant: Constant) -> None:
        if not name:
            raise Fail(f"an initializer of graph {graph.name!r} has no name")
        value = graph.values.get(name)
        if value is None:
            value = graph.add_value(name)
        elif value.constant is not None or value.default is not None:
            _log.warning("two initializers are named %r: the last one counts", name)
        elif value.element_type and constant.element_type and value.element_type != constant.element_type:
            raise Fail(
                f"input {name!r} is declared as tensor({element_type_name(value.element_type)}), its initializer is "
                f"tensor({element_type_name(constant.element_type)})"
            )
        if value.is_input and self._ir_version < 4 and graph.holder is None:
            # Before IR version 4 every initializer had to be an input too; none was meant to be fed.
            value.is_input = False
            graph.inputs.remove(value)
        if value.is_input:
            value.default = constant
            return
        value.set_tensor_type(constant.element_type, constant.dims)
        graph.set_constant(value, constant)

    def hoisted_constants(self, proto: GraphProto) -> list[tuple[str, str, Constant]]:
        """Takes out of a subgraph's proto the tensors that are not to be copied with it: the name that each gets, the
        one it had, the value."""
        return []

    def restore_attribute(self, attribute: AttributeProto) -> None:
        """Nothing was left out."""

    def constant_of_node(self, node: Node) -> Constant | None:
        """The value of a Constant node; None where it is malformed, which the checker then reports."""
        if len(node.proto.attribute) != 1 or len(node.proto.output) != 1:
            return None
        attribute = node.proto.attribute[0]
        if attribute.ref_attr_name:
            return None
        if attribute.name == "value" and attribute.HasField("t"):
            return self.constant(attribute.t, node.proto.output[0])
        if attribute.name == "sparse_value":
            return _dense_of_sparse(attribute.sparse_tensor)
        return constant_of_attribute(attribute)

    def constant(self, tensor: TensorProto, name: str) -> Constant:
        """The value of a tensor of the protos."""
        return constant_of_tensor(tensor, name)


class _Loader(EmbeddedTensors):
    def __init__(self, skeleton: Skeleton, path: str | None, directory: str | None) -> None:
        super().__init__(skeleton.proto.ir_version)
        self._skeleton = skeleton
        self._external = ExternalData(directory)
        self._hoisted_names: set[str] = set()
        self._model = Model()
        self._model.path = path

    def load(self) -> Model:
        proto, model = self._skeleton.proto, self._model
        if not proto.HasField("graph"):
            raise InvalidArgument("the model has no graph: it is empty or no ONNX model")
        if not proto.opset_import:
            raise Fail("the model imports no operator set: add opset_import and save it again")
        if not proto.ir_version:
            raise Fail("the model has no ir_version: re-export it")
        if proto.ir_version > NEWEST_IR_VERSION:
            raise Fail(f"the model has IR version {proto.ir_version}; versions to {NEWEST_IR_VERSION} are supported")
        model.ir_version = proto.ir_version
        model.producer_name = proto.producer_name
        model.domain = proto.domain
        model.description = proto.doc_string
        model.graph_description = proto.graph.doc_string
        model.model_version = proto.model_version if proto.HasField("model_version") else 2**63 - 1
        model.custom_metadata = {entry.key: entry.value for entry in proto.metadata_props}
        model.opset_imports = opset_imports(proto.opset_import)
        for function in proto.functions:
            domain = "" if function.domain == "ai.onnx" else function.domain
            key = (domain, function.name, function.overload)
            if not all(type(part) is str for part in key):
                raise InvalidGraph(f"function {key} has a name or domain that is no UTF-8: the model is damaged")
            if key in model.functions:
                raise Fail(f"the model has two functions {function.domain}::{function.name}: remove one")
            model.functions[key] = function
            made = {*function.input, *(name for node in function.node for name in node.output)}
            for name in function.output:
                if name not in made:
                    raise InvalidArgument(
                        f"function {function.domain}::{function.name} has an output {name!r} that none of its nodes "
                        "makes"
                    )
            for node in function.node:
                self._restore_attributes(node)
        model.graph = self.graph(proto.graph, None, model.opset_imports)
        return model

    def hoisted_constants(self, proto: GraphProto) -> list[tuple[str, str, Constant]]:
        # Checker and shape inference get the protos of subgraphs as they are, so no weight may stay in them; and as
        # they then see these constants as values of the main graph, each needs a name of its own.
        found: list[tuple[str, str, Constant]] = []
        if not self._hoisted_names:
            self._hoisted_names.update(self._model_names())
        for position in reversed(range(len(proto.initializer))):
            tensor = proto.initializer[position]
            if self._is_left_out(tensor):
                name = tensor.name
                found.append((self._hoisted_name(proto, name), name, self.constant(tensor, name)))
                del proto.initializer[position]
        for position in reversed(range(len(proto.node))):
            node = proto.node[position]
            if node.op_type != "Constant" or len(node.attribute) != 1 or len(node.output) != 1:
                continue
            attribute = node.attribute[0]
            if attribute.HasField("t") and self._is_left_out(attribute.t):
                name = node.output[0]
                found.append((self._hoisted_name(proto, name), name, self.constant(attribute.t, name)))
                del proto.node[position]
        return found

    def _is_left_out(self, tensor: TensorProto) -> bool:
        is_external = tensor.data_location == TensorProto.EXTERNAL
        return is_external or self._skeleton.taken_data(tensor) is not None or tensor.ByteSize() > _HOISTED_FROM

    def _model_names(self) -> Iterator[str]:
        graph = self._skeleton.proto.graph
        for item in (*graph.input, *graph.initializer):
            yield item.name
        for node in graph.node:
            yield from node.output

    def _hoisted_name(self, proto: GraphProto, name: str) -> str:
        unique, number = name, 0
        while unique in self._hoisted_names:
            number += 1
            unique = f"{name}_{number}"
        self._hoisted_names.add(unique)
        if unique != name:
            _rename_reads(proto, name, unique)
        return unique

    def restore_attribute(self, attribute: AttributeProto) -> None:
        if attribute.HasField("t"):
            self._skeleton.restore(attribute.t)

    def _restore_attributes(self, node: NodeProto) -> None:
        for attribute in node.attribute:
            if attribute.HasField("t"):
                self._skeleton.restore(attribute.t)
            for tensor in attribute.tensors:
                self._skeleton.restore(tensor)
            for graph in (*([attribute.g] if attribute.HasField("g") else ()), *attribute.graphs):
                for tensor in graph.initializer:
                    self._skeleton.restore(tensor)
                for inner in graph.node:
                    self._restore_attributes(inner)

    def constant(self, tensor: TensorProto, name: str) -> Constant:
        if tensor.data_location == TensorProto.EXTERNAL:
            return self._external.constant(tensor)
        taken = self._skeleton.taken_data(tensor)
        if taken is None:
            return constant_of_tensor(tensor, name)
        dims = tuple(tensor.dims)
        check_data_length(name, tensor.data_type, dims, len(taken))
        return Constant(tensor.data_type, dims, data=taken)


def _rename_reads(proto: GraphProto, name: str, new_name: str) -> None:
    for node in proto.node:
        for index, item in enumerate(node.input):
            if item == name:
                node.input[index] = new_name
        for attribute in node.attribute:
            if attribute.HasField("g"):
                _rename_reads(attribute.g, name, new_name)
    for info in (*proto.output, *proto.value_info):
        if info.name == name:
            info.name = new_name


def constant_of_tensor(tensor: TensorProto, name: str) -> Constant:
    """A tensor that holds its data itself. Raises Fail when the data is not what its type and dims say."""
    dims = tuple(tensor.dims)
    checked_byte_size(name, tensor.data_type, dims)
    if tensor.HasField("raw_data"):
        check_data_length(name, tensor.data_type, dims, len(tensor.raw_data))
    else:
        field, per_element = _typed_field(tensor.data_type)
        expected = -(-(element_count(dims) or 0) * per_element[0] // per_element[1])
        actual = len(getattr(tensor, field))
        if actual != expected:
            raise Fail(
                f"tensor {name!r} of type {element_type_name(tensor.data_type)} and shape {list(dims)} needs "
                f"{expected} values in {field}, but the model has {actual}: it is damaged"
            )
    return Constant(tensor.data_type, dims, proto=tensor)


def _typed_field(element_type: int) -> tuple[str, tuple[int, int]]:
    """The field that keeps a type's values where raw_data does not, and its items an element (as a fraction)."""
    if element_type in (1, 14):
        return "float_data", (2, 1) if element_type == 14 else (1, 1)
    if element_type in (11, 15):
        return "double_data", (2, 1) if element_type == 15 else (1, 1)
    if element_type == 7:
        return "int64_data", (1, 1)
    if element_type in (12, 13):
        return "uint64_data", (1, 1)
    if element_type == STRING:
        return "string_data", (1, 1)
    if element_type in (21, 22, 23):
        return "int32_data", (1, 2)
    return "int32_data", (1, 4) if element_type in (25, 26) else (1, 1)


def constant_of_attribute(attribute: Any) -> Constant | None:
    """The tensor that a Constant node's value_int, value_floats and so on stand for; None for another attribute."""
    import numpy as np

    types = {
        "value_int": 7,
        "value_ints": 7,
        "value_float": 1,
        "value_floats": 1,
        "value_string": STRING,
        "value_strings": STRING,
    }
    element_type = types.get(attribute.name)
    if element_type is None:
        return None
    dtype = {7: np.int64, 1: np.float32, STRING: object}[element_type]
    return Constant.of_array(np.array(attribute_value(attribute), dtype=dtype), element_type)


def _dense_of_sparse(sparse: Any) -> Constant:
    """A sparse initialiser as a dense one, which is what its readers get."""
    import numpy as np

    name = sparse.values.name
    dims = tuple(sparse.dims)
    checked_byte_size(name, sparse.values.data_type, dims)
    values = constant_of_tensor(sparse.values, name).array()
    indices = constant_of_tensor(sparse.indices, name).array()
    if values.ndim != 1 or indices.shape[:1] != values.shape or (indices < 0).any():
        raise Fail(
            f"sparse tensor {name!r} of shape {list(dims)} has values of shape {list(values.shape)} and indices of "
            f"shape {list(indices.shape)}: one non-negative index for each value is needed"
        )
    dense = np.zeros(dims, dtype=values.dtype)
    try:
        if indices.ndim == 1:
            dense.reshape(-1)[indices] = values
        else:
            dense[tuple(indices.T)] = values
    except (IndexError, ValueError) as error:
        raise Fail(f"sparse tensor {name!r} of shape {list(dims)}: {error}") from error
    return Constant.of_array(dense, sparse.values.data_type)


def opset_imports(entries: Any) -> dict[str, int]:
    """Versions by domain. Raises Fail when one is newer than package onnx knows."""
    imports: dict[str, int] = {}
    newest = known_domains()
    for entry in entries:
        domain = "" if entry.domain == "ai.onnx" else entry.domain
        known = newest.get(domain)
        if not 0 <= entry.version <= _MAX_OPSET:
            raise Fail(
                f"the model imports opset {entry.version} of domain {domain or 'ai.onnx'!r}, which is no version"
            )
        if known is not None and entry.version > known:
            raise Fail(
                f"the model imports opset {entry.version} of domain {domain or 'ai.onnx'!r}; the installed package "
                f"onnx knows versions to {known}: install a newer onnx or export the model for an older opset"
            )
        imports[domain] = entry.version
    return imports
