"""Reads ORT's public headers, as released or as pinned, into the model."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from pycparser import CParser, c_ast
from pycparser.c_lexer import CLexer
from pycparser.c_parser import ParseError

from codegen.errors import CodegenError
from codegen.model import Abi, Enum, ExportedFunction, Function, Member, Param, Struct, Typedef
from codegen.preprocessor import Preprocessed, Preprocessor

ROOT_HEADER = "onnxruntime_c_api.h"
# ORT's own headers end by including this one, so that it is always there.
EP_HEADER = "onnxruntime_ep_c_api.h"

_INTEGER = re.compile(r"(0|[1-9][0-9]{0,19}|0[xX][0-9a-fA-F]{1,16})[uUlL]*")
_PRELUDE_TYPES = {
    "size_t": "unsigned long",
    "int32_t": "int",
    "int64_t": "long",
    "uint32_t": "unsigned",
    "uint64_t": "unsigned long",
    "bool": "_Bool",
    "ORTCHAR_T": "char",
}
_PRELUDE = "".join(f"typedef {plain} {name};" for name, plain in _PRELUDE_TYPES.items()) + "\n"


def parse_headers(include_dir: Path) -> Abi:
    """Parses the headers of a folder. Raises CodegenError naming file, line and slot of what it refuses."""
    source = Preprocessor(include_dir).run(ROOT_HEADER)
    if source.version is None:
        raise CodegenError("ORT_API_VERSION is not defined", file=str(include_dir / ROOT_HEADER))
    parser = CParser(lexer=_Lexer)
    try:
        tree = parser.parse(_PRELUDE + source.text, str(include_dir / ROOT_HEADER))
    except ParseError as error:
        assert isinstance(parser.clex, _Lexer)
        raise _refusal(error, parser.clex, source) from None
    return _Reader(source).read(tree)


class _Lexer(CLexer):
    """Remembers how far it is: some of pycparser's errors name the file alone."""

    line = 0

    def token(self) -> Any:
        token = super().token()
        if token is not None:
            self.line = token.lineno
        return token


def _refusal(error: ParseError, lexer: _Lexer, source: Preprocessed) -> CodegenError:
    match = re.match(r"(.*?):(\d+)(?::\d+)?:\s*(.*)$", str(error), re.DOTALL)
    if match:
        file, line, reason = match[1], int(match[2]), match[3]
    else:
        file, line, reason = lexer.filename, lexer.line, str(error).removeprefix(f"{lexer.filename}: ")
    return CodegenError(f"does not parse as C, {reason}", file, line, source.slot_at(file, line))


class _Reader:
    """Walks pycparser's tree."""

    def __init__(self, source: Preprocessed) -> None:
        self._source = source
        self._abi = Abi(api_version=source.version or 0, files=source.files)
        self._named: set[str] = set()  # structs and enums whose bare name is a type

    def read(self, tree: c_ast.FileAST) -> Abi:
        """Collects all declarations."""
        declarations = [node for node in tree.ext if getattr(node, "name", None) not in _PRELUDE_TYPES]
        for node in declarations:
            if isinstance(node, c_ast.Typedef) and isinstance(node.type, c_ast.TypeDecl):
                tagged = node.type.type
                if isinstance(tagged, (c_ast.Struct, c_ast.Enum)) and tagged.name == node.name:
                    self._named.add(node.name)
        for node in declarations:
            self._declaration(node)
        complete = set(self._abi.structs)
        self._abi.opaque = [name for name in self._abi.file_of_opaque if name not in complete]
        return self._abi

    def _declaration(self, node: c_ast.Node) -> None:
        if not isinstance(node, (c_ast.Decl, c_ast.Typedef)):
            text = "the body of a function" if isinstance(node, c_ast.FuncDef) else type(node).__name__
            raise CodegenError(f"{text} is not expected in a header of declarations", *_place(node))
        file = _file(node)
        inner = node.type
        if isinstance(node, c_ast.Typedef):
            self._typedef(node, file)
        elif isinstance(inner, c_ast.Struct):
            self._struct(inner, file)
        elif isinstance(inner, c_ast.Enum):
            self._enum(inner, file)
        elif isinstance(inner, c_ast.FuncDecl):
            self._abi.functions[node.name] = ExportedFunction(node.name, self._function(inner), file)
        else:
            raise CodegenError(f"a declaration of kind {type(inner).__name__} is not expected", *_place(node))

    def _typedef(self, node: c_ast.Typedef, file: str) -> None:
        base = node.type
        while isinstance(base, (c_ast.PtrDecl, c_ast.TypeDecl)):
            base = base.type
        if isinstance(base, c_ast.Struct) and base.decls:
            self._struct(base, file)
        elif isinstance(base, c_ast.Enum) and base.values:
            self._enum(base, file)
        if isinstance(node.type, c_ast.TypeDecl) and isinstance(base, (c_ast.Struct, c_ast.Enum)):
            if isinstance(base, c_ast.Struct):
                self._abi.file_of_opaque.setdefault(node.name, file)
            return
        if node.name in self._abi.typedefs:
            raise CodegenError("declared twice", *_place(node), slot=node.name)
        since = self._source.since_of_type.get(node.name)
        if isinstance(node.type, c_ast.PtrDecl) and isinstance(node.type.type, c_ast.FuncDecl):
            function = self._function(node.type.type)
            self._abi.typedefs[node.name] = Typedef(
                node.name, function=function, since=since, file=file, place=_place(node)
            )
        else:
            self._abi.typedefs[node.name] = Typedef(
                node.name, type=self._type(node.type), since=since, file=file, place=_place(node)
            )
        self._abi.order.append(node.name)

    def _struct(self, node: c_ast.Struct, file: str) -> None:
        if node.decls is None:
            return
        if node.name is None:
            raise CodegenError("a struct without a name is not understood", *_place(node))
        if node.name in self._abi.structs:
            raise CodegenError("declared twice", *_place(node), slot=node.name)
        since = self._source.since_of_type.get(node.name)
        members: list[Member] = []
        first_line: dict[str, int] = {}
        for index, declaration in enumerate(node.decls):
            member = self._member(declaration, index, node.name)
            if member.name in first_line:
                raise CodegenError(
                    f"duplicate slot, already declared at line {first_line[member.name]}",
                    *_place(declaration),
                    slot=f"{node.name}::{member.name}",
                )
            first_line[member.name] = member.line
            members.append(member)
        self._abi.structs[node.name] = Struct(
            node.name, members, since, node.name in self._named, file=file, place=_place(node)
        )
        self._abi.order.append(node.name)

    def _member(self, node: c_ast.Decl, index: int, owner: str) -> Member:
        since = None
        for mark in self._marks(node):
            if mark.startswith("since "):
                since = int(mark[6:])
        file, line = _place(node)
        if node.bitsize is not None:
            slot = f"{owner}::{node.name or ''}"
            raise CodegenError("is a bit-field, whose layout C leaves to the compiler", file, line, slot)
        if not node.name:
            raise CodegenError("a member without a name is not understood", file, line, owner)
        member = Member(node.name, "", index, since, file=file, line=line)
        inner = node.type
        if isinstance(inner, c_ast.PtrDecl) and isinstance(inner.type, c_ast.FuncDecl):
            member.function = self._function(inner.type)
            member.status = member.function.returns in ("OrtStatusPtr", "OrtStatus*")
            member.type = member.function.pointer()
        elif isinstance(inner, c_ast.TypeDecl) and isinstance(inner.type, c_ast.Union):
            member.type = "union"
            member.members = [self._member(decl, position, owner) for position, decl in enumerate(inner.type.decls)]
        else:
            member.type = self._type(inner)
            alias = self._abi.typedefs.get(member.type)
            if alias and alias.function:
                member.function, member.alias = alias.function, alias.name
                member.status = alias.function.returns in ("OrtStatusPtr", "OrtStatus*")
        return member

    def _enum(self, node: c_ast.Enum, file: str) -> None:
        if node.name is None:
            raise CodegenError("an enumeration without a name is not understood", *_place(node))
        if node.name in self._abi.enums:
            raise CodegenError("declared twice", *_place(node), slot=node.name)
        values: dict[str, int] = {}
        places: dict[str, tuple[str, int]] = {}
        following = 0
        for enumerator in node.values.enumerators:
            if enumerator.name in values:
                raise CodegenError("duplicate value", *_place(enumerator), slot=f"{node.name}::{enumerator.name}")
            if enumerator.value is not None:
                following = _evaluate(enumerator.value, values)
            if not -(2**31) <= following < 2**32:
                raise CodegenError(
                    f"{following} is no 32-bit value", *_place(enumerator), slot=f"{node.name}::{enumerator.name}"
                )
            values[enumerator.name] = _as_int32(following)
            places[enumerator.name] = _place(enumerator)
            following += 1
        since = self._source.since_of_type.get(node.name)
        self._abi.enums[node.name] = Enum(
            node.name, list(values.items()), since, node.name in self._named, file, _place(node), places
        )

    def _function(self, node: c_ast.FuncDecl) -> Function:
        params = []
        for declaration in node.args.params if node.args else ():
            if not isinstance(declaration, (c_ast.Decl, c_ast.Typename)):
                raise CodegenError("a parameter without a type, or a variable number of them", *_place(node))
            c_type = self._type(declaration.type)
            if c_type == "void":
                continue
            annotation = " ".join(mark for mark in self._marks(declaration) if not mark.startswith("since "))
            params.append(Param(declaration.name or "", c_type, annotation))
        return Function(self._type(node.type), tuple(params))

    def _marks(self, node: c_ast.Decl | c_ast.Typename) -> list[str]:
        return [self._source.marks[int(mark.alignment.value)] for mark in node.align or ()]

    def _type(self, node: c_ast.Node, declarator: str = "") -> str:
        """The C type of a declarator, without a name."""
        if isinstance(node, c_ast.PtrDecl):
            quals = " ".join(node.quals)
            pointer = f"* {quals}" if quals else "*"
            if isinstance(node.type, (c_ast.FuncDecl, c_ast.ArrayDecl)):
                return self._type(node.type, f"({pointer}{declarator})")
            return self._type(node.type, pointer + declarator)
        if isinstance(node, c_ast.ArrayDecl):
            if node.dim is not None and not _is_number(node.dim):
                raise CodegenError("the length of an array is not a plain number", *_place(node.dim))
            size = node.dim.value if node.dim is not None else ""
            return self._type(node.type, f"{declarator}[{size}]")
        if isinstance(node, c_ast.FuncDecl):
            given = node.args.params if node.args else ()
            for param in given:
                if not isinstance(param, (c_ast.Decl, c_ast.Typename)):
                    raise CodegenError("a parameter without a type, or a variable number of them", *_place(node))
            params = ", ".join(self._type(param.type) for param in given) or "void"
            return f"{self._type(node.type)} {declarator}({params})"
        if not isinstance(node, c_ast.TypeDecl):
            raise CodegenError(f"a type of kind {type(node).__name__} is not understood here", *_place(node))
        base = node.type
        if isinstance(base, (c_ast.Struct, c_ast.Enum)) and base.name:
            keyword = "struct" if isinstance(base, c_ast.Struct) else "enum"
            name = base.name if base.name in self._named else f"{keyword} {base.name}"
        elif isinstance(base, c_ast.IdentifierType):
            name = " ".join(base.names)
        else:
            raise CodegenError(f"a type of kind {type(base).__name__} is not understood here", *_place(node))
        return " ".join([*node.quals, name]) + declarator


def _place(node: c_ast.Node) -> tuple[str, int]:
    coord = node.coord
    return (str(coord.file), int(coord.line)) if coord else ("", 0)


def _file(node: c_ast.Node) -> str:
    return Path(_place(node)[0]).name


def _as_int32(value: int) -> int:
    """An enumerator is an int: `1 << 31` is the most negative one."""
    return (value + 2**31) % 2**32 - 2**31


def _is_number(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.Constant) and bool(re.fullmatch(r"[1-9][0-9]{0,8}", str(node.value)))


def _evaluate(node: c_ast.Node, known: dict[str, int]) -> int:
    """The value of a constant expression; those beyond 64 bits are refused before they take memory."""
    if isinstance(node, c_ast.Constant) and (number := re.fullmatch(_INTEGER, str(node.value))):
        return int(number[1], 0)
    if isinstance(node, c_ast.ID) and node.name in known:
        return known[str(node.name)]
    if isinstance(node, c_ast.UnaryOp) and node.op == "-":
        return -_evaluate(node.expr, known)
    if isinstance(node, c_ast.BinaryOp) and node.op in ("<<", "|", "+", "-"):
        left, right = _evaluate(node.left, known), _evaluate(node.right, known)
        if node.op == "<<" and not 0 <= right < 64:
            raise CodegenError(f"a shift by {right} is not understood", *_place(node))
        value = {"<<": left << (right & 63), "|": left | right, "+": left + right, "-": left - right}[str(node.op)]
        if abs(value) < 2**64:
            return value
    raise CodegenError("the value of an enumerator is not understood", *_place(node))
