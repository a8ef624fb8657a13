"""A C preprocessor for exactly the directives and macros that ORT's public headers use.

pycparser reads plain C. This step evaluates the conditionals as a C compiler on Linux would, expands the
declaration macros with the header's own definitions, and keeps what C has no syntax for (SAL annotations, `since`
comments) as numbered marks: `_Alignas(n)` before a member or a parameter, with `n` an index into `marks`. Anything
unknown is refused, because guessing at a macro is guessing at the ABI.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise
from pathlib import Path

from codegen.errors import CodegenError

# SAL annotations that the model keeps; the second group takes an argument.
PLAIN_ANNOTATIONS = frozenset(
    [
        "_In_",
        "_In_z_",
        "_In_opt_",
        "_In_opt_z_",
        "_Out_",
        "_Out_opt_",
        "_Outptr_",
        "_Outptr_opt_",
        "_Inout_",
        "_Inout_opt_",
        "_Frees_ptr_opt_",
        "_Outptr_result_maybenull_",
        "_Outptr_result_maybenull_z_",
    ]
)
SIZED_ANNOTATIONS = frozenset(
    [
        "_In_reads_",
        "_In_reads_opt_",
        "_Inout_updates_",
        "_Inout_updates_all_",
        "_Out_writes_",
        "_Out_writes_opt_",
        "_Out_writes_bytes_all_",
        "_Out_writes_all_",
        "_Outptr_result_buffer_maybenull_",
    ]
)
# They say nothing that the model needs: statuses are told by their type, linkage and `noexcept` by our own rules.
DROPPED = frozenset(
    [
        "_Check_return_",
        "_Ret_maybenull_",
        "_Ret_notnull_",
        "ORT_API_CALL",
        "NO_EXCEPTION",
        "ORT_EXPORT",
        "ORT_MUST_USE_RESULT",
        "ORT_ALL_ARGS_NONNULL",
    ]
)
DROPPED_SIZED = frozenset({"_Success_"})
# Expanded with the definition that the header itself gives.
EXPANDED = frozenset(
    ["ORT_API", "ORT_API_T", "ORT_API_STATUS", "ORT_API2_STATUS", "ORT_CLASS_RELEASE", "ORT_RUNTIME_CLASS"]
)
# Stays a type name: it differs between platforms.
KEPT = frozenset({"ORTCHAR_T"})
# Beside what the headers define: the ABI is read as C, on Linux, of a full build.
PREDEFINED = frozenset({"__GNUC__"})

_SAL_LIKE = re.compile(r"_[A-Z][A-Za-z0-9]*(_[A-Za-z0-9]+)*_$")
_MACRO_LIKE = re.compile(r"[A-Z][A-Z0-9_]*$")
_DEFINED = re.compile(r"(!?)\s*defined\s*\(\s*(\w+)\s*\)$")
# A pin is one folder of headers: a path could lead out of it, and pinning writes files under these names.
_INCLUDED = re.compile(r"\"([A-Za-z_]\w*\.h)\"")
_VERSION = re.compile(r"[1-9][0-9]{0,5}")
_SINCE = re.compile(r"\\since\s+(?:Version\s+)?1\.(\d+)|^/\* since (\d+) \*/$")
_LEXEMES = re.compile(
    r"(?P<comment>/\*.*?\*/|//[^\n]*)|(?P<directive>^[ \t]*\#(?:\\\n|[^\n])*)|(?P<newline>\n)|(?P<space>[ \t\r\f]+)"
    r"|(?P<word>[A-Za-z_]\w*)|(?P<number>\d\w*)|(?P<string>\"(?:\\.|[^\"\\\n])*\")|(?P<mark>\#\#|\.\.\.|<<|>>|[^\w\s])",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True)
class Token:
    """One lexeme with the place it comes from.

    `source` is its index in the unexpanded stream; `within` are the macros that it came out of.
    """

    kind: str
    text: str
    file: str
    line: int
    source: int = -1
    within: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Macro:
    """A `#define`: parameter names (None for an object-like macro), the body's tokens, and its place."""

    name: str
    parameters: tuple[str, ...] | None
    body: tuple[Token, ...]
    file: str
    line: int


@dataclass
class Preprocessed:
    """C text for pycparser, and what its marks stand for."""

    text: str
    marks: list[str]
    since_of_type: dict[str, int]
    version: int | None
    files: list[str]
    stream: list[Token] = field(repr=False)

    def slot_at(self, file: str, line: int) -> str:
        """Name of the member declared at a line, `Struct::Member`, or an empty string."""
        for position, token in enumerate(self.stream):
            if token.file == file and token.line >= line and token.kind != "comment":
                return _slot_around(self.stream, position)
        return ""


def _lex(text: str, file: str) -> list[Token]:
    tokens = []
    line = 1
    for match in _LEXEMES.finditer(text):
        kind = match.lastgroup or ""
        lexeme = match.group()
        if kind in ("comment", "directive", "word", "number", "string", "mark"):
            tokens.append(Token(kind, lexeme, file, line))
        line += lexeme.count("\n")
    return tokens


def _slot_around(stream: Sequence[Token], position: int) -> str:
    """The struct and member of the declaration that the token at `position` belongs to."""
    begin = position
    while begin > 0 and stream[begin - 1].text not in (";", "{", "}"):
        begin -= 1
    end = position
    while end < len(stream) and stream[end].text not in (";", "{", "}"):
        end += 1
    words = " ".join(token.text for token in stream[begin:end] if token.kind != "comment")
    member = ""
    for pattern in (
        r"ORT_API_T \( .*? , (\w+) [,)]",
        r"ORT_CLASS_RELEASE \( (\w+)",
        r"\( (?:ORT_API_CALL )?\* (\w+) \)",
        r"\b[A-Z][A-Z0-9_]* \( (\w+) [,)]",
        r"(\w+)(?: \[ \w* \])?$",
    ):
        if match := re.search(pattern, words):
            member = ("Release" if "CLASS_RELEASE" in pattern else "") + match[1]
            break
    depth = 0
    for index in range(begin - 1, -1, -1):
        depth += {"}": 1, "{": -1}.get(stream[index].text, 0)
        if depth < 0:
            for token in reversed(stream[:index]):
                if token.kind == "word":
                    return f"{token.text}::{member}"
    return member


class Preprocessor:
    """Turns a header and the headers beside it that it includes into text for pycparser."""

    def __init__(self, include_dir: Path) -> None:
        self._dir = include_dir
        self._macros: dict[str, Macro] = {}
        self._files: list[str] = []
        self._stream: list[Token] = []
        self._marks: list[str] = []
        self._since_of_type: dict[str, int] = {}

    def run(self, file: str) -> Preprocessed:
        """Preprocesses `file` of the include directory. Raises CodegenError for what it does not know."""
        self._read(file)
        text = _join(self._expand())
        return Preprocessed(
            text=text,
            marks=self._marks,
            since_of_type=self._since_of_type,
            version=self._version(),
            files=self._files,
            stream=self._stream,
        )

    def _version(self) -> int | None:
        macro = self._macros.get("ORT_API_VERSION")
        if macro is None:
            return None
        text = " ".join(token.text for token in macro.body)
        if macro.parameters is not None or not _VERSION.fullmatch(text):
            raise CodegenError(f"ORT_API_VERSION is no version number: '{text}'", macro.file, macro.line)
        return int(text)

    def _read(self, file: str) -> None:
        """Evaluates the directives of a file; what stays is appended to the stream."""
        path = self._dir / file
        if not path.is_file():
            raise CodegenError(f"no such header; give the folder that holds {file}", file=str(path))
        self._files.append(file)
        taken: list[bool] = []  # of each open conditional: whether its current branch is read
        content = path.read_bytes()
        try:
            text = content.decode("utf-8-sig").replace("\r\n", "\n")
        except UnicodeDecodeError as error:
            line = content[: error.start].count(b"\n") + 1
            raise CodegenError(f"is not UTF-8 at byte {error.start}", str(path), line) from None
        for token in _lex(text, str(path)):
            if token.kind == "directive":
                self._directive(token, taken)
            elif all(taken):
                self._stream.append(Token(token.kind, token.text, token.file, token.line, len(self._stream)))
        if taken:
            raise CodegenError("a conditional is not closed by #endif", file=str(path))

    def _directive(self, token: Token, taken: list[bool]) -> None:
        line = re.sub(r"//.*|/\*.*?\*/", "", token.text.replace("\\\n", " ")).strip()
        name, _, rest = line[1:].strip().partition(" ")
        rest = rest.strip()
        defined = set(self._macros) | PREDEFINED
        if name == "endif":
            if not taken:
                raise CodegenError("#endif without #if", file=token.file, line=token.line)
            taken.pop()
        elif name == "else":
            if not taken:
                raise CodegenError("#else without #if", file=token.file, line=token.line)
            taken[-1] = not taken[-1]
        elif name in ("ifdef", "ifndef"):
            taken.append((rest in defined) == (name == "ifdef"))
        elif name == "if":
            if not all(taken):
                taken.append(False)
                return
            condition = _DEFINED.match(rest)
            if not condition:
                raise CodegenError(f"'#if {rest}' is not [!]defined(NAME)", file=token.file, line=token.line)
            taken.append((condition[2] in defined) != bool(condition[1]))
        elif not all(taken) or name == "pragma":
            return
        elif name == "include":
            if rest.startswith("<"):
                return
            included = _INCLUDED.fullmatch(rest)
            if not included:
                raise CodegenError(
                    f"#include {rest}: only headers of the same folder can be pinned, by their bare name",
                    file=token.file,
                    line=token.line,
                )
            if included[1] not in self._files:
                self._read(included[1])
        elif name == "define":
            self._define(rest, token)
        elif name == "undef":
            self._macros.pop(rest, None)
        else:
            raise CodegenError(f"directive '#{name}' is not known", file=token.file, line=token.line)

    def _define(self, rest: str, token: Token) -> None:
        match = re.match(r"(\w+)(\(([^)]*)\))?\s*(.*)$", rest, re.DOTALL)
        if not match:
            raise CodegenError(f"cannot read '#define {rest}'", file=token.file, line=token.line)
        parameters = tuple(part.strip() for part in match[3].split(",")) if match[2] else None
        body = tuple(Token(t.kind, t.text, token.file, token.line) for t in _lex(match[4], token.file))
        self._macros[match[1]] = Macro(match[1], parameters, body, token.file, token.line)

    def _mark(self, text: str, at: Token) -> Iterable[Token]:
        self._marks.append(text)
        for lexeme in ("_Alignas", "(", str(len(self._marks) - 1), ")"):
            yield Token("word", lexeme, at.file, at.line)

    def _expand(self) -> list[Token]:
        """The stream with macros expanded, annotations and `since` comments turned into marks."""
        pending = deque(self._stream)
        output: list[Token] = []
        braces: list[str] = []  # of each open brace: the keyword of its declaration
        parens = 0
        annotated = False  # the current parameter carries an annotation
        keyword = ""
        while pending:
            token = pending.popleft()
            if token.kind == "comment":
                output.extend(self._since(token, pending, braces, parens))
                continue
            if token.kind == "word":
                following = pending[0].text if pending else ""
                if token.text == "static_assert" and following == "(":
                    _arguments(token, pending)
                    pending.popleft()  # its semicolon
                    continue
                if token.text in DROPPED:
                    continue
                if token.text in DROPPED_SIZED or token.text in SIZED_ANNOTATIONS:
                    argument = " ".join(t.text for t in _arguments(token, pending)) if following == "(" else ""
                    if token.text in SIZED_ANNOTATIONS:
                        argument = argument.replace("* ", "*")
                        output.extend(self._mark(f"{token.text}({argument})" if argument else token.text, token))
                        annotated = True
                    continue
                if token.text in PLAIN_ANNOTATIONS:
                    output.extend(self._mark(token.text, token))
                    annotated = True
                    continue
                if token.text in EXPANDED and token.text in self._macros and following == "(":
                    pending.extendleft(reversed(self._expansion(token, pending)))
                    continue
                if self._is_unknown_macro(token, following):
                    raise CodegenError(
                        f"unknown macro {token.text}; teach codegen/preprocessor.py what it means",
                        token.file,
                        token.line,
                        _slot_around(self._stream, max(token.source, 0)) if token.source >= 0 else "",
                    )
                if token.text in ("struct", "enum", "union") and not parens:
                    keyword = token.text
            elif token.text == "{":
                braces.append(keyword)
            elif token.text == "}" and braces:
                braces.pop()
            elif token.text == "(":
                parens += 1
            # C lets a parameter go unnamed, but then pycparser keeps no mark of it.
            if token.text in (",", ")") and annotated:
                if output and output[-1].text == "*":
                    output.append(Token("word", "unnamed", token.file, token.line))
                annotated = False
            if token.text == ")":
                parens -= 1
            output.append(token)
        return output

    def _is_unknown_macro(self, token: Token, following: str) -> bool:
        if token.text in KEPT:
            return False
        if token.text in self._macros or _SAL_LIKE.match(token.text):
            return True
        return following == "(" and bool(_MACRO_LIKE.match(token.text))

    def _since(self, comment: Token, pending: deque[Token], braces: list[str], parens: int) -> Iterable[Token]:
        match = _SINCE.search(comment.text)
        if not match or parens or "enum" in braces or "union" in braces:
            return
        since = int(match[1] or match[2])
        code = (token for token in pending if token.kind != "comment")
        if braces:
            following = next(code, None)
            if following and following.text != "}":
                yield from self._mark(f"since {since}", comment)
            return
        # Of a type, pycparser would lose a mark: the type's name stands within the next few tokens.
        declaration = list(islice(code, 12))
        for token, name in pairwise(declaration):
            is_pointer = token.text == "*" and name.kind == "word" and declaration[0].text == "typedef"
            if token.text in ("struct", "enum") or is_pointer:
                self._since_of_type[name.text] = since
                return

    def _expansion(self, name: Token, pending: deque[Token]) -> list[Token]:
        macro = self._macros[name.text]
        if macro.name in name.within:
            raise CodegenError(f"macro {macro.name} expands to itself", name.file, name.line)
        within = name.within | {macro.name}
        given = [replace(token, within=token.within | within) for token in _arguments(name, pending)]
        groups: list[list[Token]] = [[]]
        depth = 0
        names = macro.parameters or ()
        for token in given:
            depth += {"(": 1, ")": -1}.get(token.text, 0)
            if token.text == "," and not depth and names[len(groups) - 1 :][:1] != ("...",):
                groups.append([])
            else:
                groups[-1].append(token)
        values = {parameter: groups[index] if index < len(groups) else [] for index, parameter in enumerate(names)}
        result: list[Token] = []
        paste = False
        for token in macro.body:
            if token.text == "##":
                paste = True
                continue
            key = "..." if token.text == "__VA_ARGS__" else token.text
            # Tokens of the body take the place of the invocation, so that errors point at the slot.
            replacement = values.get(key, [Token(token.kind, token.text, name.file, name.line, name.source, within)])
            if paste and result and replacement:
                joined = result.pop().text + replacement[0].text
                replacement = [Token("word", joined, name.file, name.line, name.source, within), *replacement[1:]]
            paste = False
            result.extend(replacement)
        return result


def _arguments(name: Token, pending: deque[Token]) -> list[Token]:
    """Takes a parenthesised list off the stream and returns what it holds."""
    pending.popleft()
    depth = 1
    inside: list[Token] = []
    while pending:
        token = pending.popleft()
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        if not depth:
            return inside
        inside.append(token)
    raise CodegenError(f"the parenthesis after {name.text} is not closed", name.file, name.line)


def _join(tokens: Iterable[Token]) -> str:
    """Text of the tokens, with line markers so that pycparser's places are those of the headers."""
    parts: list[str] = []
    place = ("", 0)
    for token in tokens:
        here = (token.file, token.line)
        if here != place:
            parts.append("\n" if here == (place[0], place[1] + 1) else f'\n#line {token.line} "{token.file}"\n')
            place = here
        parts.append(token.text)
        parts.append(" ")
    return "".join(parts) + "\n"
