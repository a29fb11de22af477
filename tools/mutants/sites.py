"""Finds the places in C that can be mutated, with libclang.

A site knows where its text stands (byte offsets), what is done to it, and a key that does not
change when lines move: the name of the file, the function, the mutation and the text, with a number
where a function has the same text several times.

What has to be constant is left alone: labels of cases, static initializers, sizes of arrays,
operands of sizeof, static assertions.  So is what a macro expands to, and everything outside of
functions.
"""

import dataclasses
import hashlib
import os
import re
import sys

try:
    import clang.cindex as ci
except ImportError:  # another Python than the one that Debian packages are for
    sys.path.append("/usr/lib/python3/dist-packages")
    import clang.cindex as ci

KINDS = ("negate", "limit", "return", "remove", "swap")

K = ci.CursorKind

# Nothing below these is mutated.
CONSTANT = {K.STATIC_ASSERT, K.CXX_UNARY_EXPR, K.ENUM_DECL, K.STRUCT_DECL, K.UNION_DECL,
            K.TYPEDEF_DECL, K.StmtExpr}
LOOPS = {K.WHILE_STMT, K.DO_STMT, K.FOR_STMT}
# A number inside of these may be moved by one.
ARITHMETIC = {K.BINARY_OPERATOR, K.PAREN_EXPR, K.UNEXPOSED_EXPR, K.CALL_EXPR, K.RETURN_STMT,
              K.COMPOUND_ASSIGNMENT_OPERATOR, K.CONDITIONAL_OPERATOR, K.CSTYLE_CAST_EXPR}

OTHER_LIMIT = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
OTHER_LOGIC = {"&&": "||", "||": "&&"}
OPERATOR = re.compile(rb"\s*(<=|>=|<|>|&&|\|\|)\s*")
NUMBER = re.compile(r"(?:0[xX][0-9a-fA-F]+|[0-9]+)[uUlL]*")
NAMED_LIMIT = re.compile(r"(?:^|_)(?:MAX|MIN|LIMIT|SIZE|ROOM|DEPTH|BYTES|MOST)(?:_|$)")
ERROR_NAME = re.compile(r"(?:err|error|rc|status)")
ERROR_TEXT = re.compile(r"-\s*\w|ACP_ERR_\w+$|\w*fail\w*\(")
BOOLS = {"true": "false", "false": "true"}
INTEGERS = {ci.TypeKind.INT, ci.TypeKind.LONG, ci.TypeKind.LONGLONG}


@dataclasses.dataclass
class Site:
    file: str  # relative to the root
    function: str
    kind: str
    start: int
    end: int
    line: int
    text: str  # as it stands there, with single blanks
    change: str  # for people: what it becomes
    parts: tuple = ()  # offsets inside, for the two sides of an operator
    nth: int = 1
    id: int = 0

    @property
    def key(self):
        return (os.path.basename(self.file), self.function, f"{self.kind}: {self.change}",
                self.text, self.nth)

    def order(self, seed):
        """Where it comes in the draw of a seed; a change elsewhere in the tree does not move it."""
        return hashlib.sha256(repr((seed, self.key)).encode()).hexdigest()


class _Finder:
    def __init__(self, file, source):
        self.file = file
        self.source = source
        self.sites = []
        self.macros = []
        self.function = None
        self.result = None
        self.fails = False

    def text(self, node):
        return self.source[node.extent.start.offset:node.extent.end.offset].decode(errors="replace")

    def in_macro(self, start, end):
        """Whether the place lies in the text of a macro's use."""
        return any(a <= start and end <= b for a, b in self.macros)

    def add(self, kind, start, end, change, parts=()):
        raw = self.source[start:end]
        # A line of the preprocessor cannot stand in an operand, and the text may stand there twice.
        if re.search(rb"^\s*#", raw, re.MULTILINE) or b"//" in raw:
            return
        self.sites.append(Site(self.file, self.function, kind, start, end,
                               self.source.count(b"\n", 0, start) + 1,
                               " ".join(raw.decode(errors="replace").split()), change, parts))

    def add_node(self, kind, node, change):
        self.add(kind, node.extent.start.offset, node.extent.end.offset, change)

    # ---- One kind of mutation each

    def negate(self, node, parent):
        if self.in_macro(parent.extent.start.offset, parent.extent.end.offset):
            return
        text = self.text(node)
        if text not in ("true", "false") and not NUMBER.fullmatch(text):
            self.add_node("negate", node, "the opposite")

    def operator(self, node, children):
        if len(children) != 2:
            return
        left, right = (child.extent for child in children)
        between = OPERATOR.fullmatch(self.source, left.end.offset, right.start.offset)
        if not between or self.in_macro(between.start(1), between.end(1)):
            return
        sign = between[1].decode()
        parts = (left.start.offset, left.end.offset, right.start.offset, right.end.offset)
        other = OTHER_LIMIT.get(sign) or OTHER_LOGIC[sign]
        kind = "limit" if sign in OTHER_LIMIT else "swap"
        self.add(kind, left.start.offset, right.end.offset, other, parts)

    def number(self, node):
        start, end = node.extent.start.offset, node.extent.end.offset
        text = self.text(node)
        if self.in_macro(start, end) or not NUMBER.fullmatch(text):
            return
        if int(re.sub("[uUlL]", "", text), 0 if text[:2] in ("0x", "0X") else 10) == 0:
            return
        odd = hashlib.sha256(f"{self.file}{self.function}{text}".encode()).digest()[0] & 1
        self.add("limit", start, end, "plus one" if odd else "minus one")

    def named_limit(self, node):
        target = node.referenced
        if target and target.kind == K.ENUM_CONSTANT_DECL and NAMED_LIMIT.search(node.spelling):
            if self.text(node) == node.spelling:
                self.add_node("limit", node, "plus one")

    def returned(self, node):
        children = list(node.get_children())
        if not children or self.in_macro(node.extent.start.offset, node.extent.end.offset):
            return
        value = children[0]
        text = self.text(value)
        if self.result == ci.TypeKind.BOOL:
            if text in BOOLS:
                self.add_node("return", value, BOOLS[text])
            else:
                self.negate(value, node)
        elif self.result in INTEGERS or self.result == ci.TypeKind.ENUM:
            if ERROR_TEXT.match(text) or ERROR_NAME.fullmatch(text):
                self.add_node("return", value, "success")
            elif text == "0" and self.fails and self.result in INTEGERS:
                self.add_node("return", value, "an error")

    def removed(self, node):
        """A statement that is a call, perhaps with its result cast to void."""
        text = self.text(node)
        start, end = node.extent.start.offset, node.extent.end.offset
        if self.in_macro(start, end):
            return
        if node.kind == K.CALL_EXPR or (node.kind == K.CSTYLE_CAST_EXPR and
                                        re.match(r"\(\s*void\s*\)\s*[\w.>-]+\(", text)):
            self.add("remove", start, end, "nothing")

    # ---- The walk

    def statement(self, node, parent):
        if node.kind in (K.CALL_EXPR, K.CSTYLE_CAST_EXPR):
            self.removed(node)
        self.walk(node, parent)

    def walk(self, node, parent):
        kind = node.kind
        if kind in CONSTANT:
            return
        if kind == K.VAR_DECL and node.storage_class == ci.StorageClass.STATIC:
            return
        children = list(node.get_children())
        if kind == K.COMPOUND_STMT:
            for child in children:
                self.statement(child, node)
            return
        if kind == K.IF_STMT:
            self.negate(children[0], node)
            self.walk(children[0], node)
            for child in children[1:]:
                self.statement(child, node)
            return
        if kind in LOOPS and children:
            body = children[0] if kind == K.DO_STMT else children[-1]
            for child in children:
                if child == body:
                    self.statement(child, node)
                    continue
                if kind != K.FOR_STMT:
                    self.negate(child, node)
                self.walk(child, node)
            return
        if kind == K.CASE_STMT:
            for child in children[1:]:  # the first is its label
                self.statement(child, node)
            return
        if kind in (K.DEFAULT_STMT, K.LABEL_STMT):
            for child in children:
                self.statement(child, node)
            return
        if kind == K.VAR_DECL and node.type.kind != ci.TypeKind.RECORD and "[" in node.type.spelling:
            # Its size is a number of the declaration; what is in braces is no such thing.
            children = [child for child in children if child.kind == K.INIT_LIST_EXPR]
        if kind == K.CONDITIONAL_OPERATOR:
            self.negate(children[0], node)
        elif kind == K.RETURN_STMT:
            self.returned(node)
        elif kind == K.BINARY_OPERATOR:
            self.operator(node, children)
        elif kind == K.INTEGER_LITERAL and parent.kind in ARITHMETIC:
            self.number(node)
        elif kind == K.DECL_REF_EXPR and parent.kind in (K.CALL_EXPR, K.UNEXPOSED_EXPR):
            self.named_limit(node)
        for child in children:
            self.walk(child, node)

    def find(self, unit, path):
        here = [node for node in unit.cursor.get_children()
                if node.location.file and node.location.file.name == path]
        self.macros = [(node.extent.start.offset, node.extent.end.offset) for node in here
                       if node.kind == K.MACRO_INSTANTIATION]
        for node in here:
            if node.kind != K.FUNCTION_DECL or not node.is_definition():
                continue
            body = list(node.get_children())[-1]
            self.function = node.spelling
            self.result = node.result_type.get_canonical().kind
            text = self.text(body)
            self.fails = bool(re.search(r"return (?:-|ACP_ERR|\w*fail\w*\(|(?:err|rc)\b)", text))
            self.walk(body, node)
        seen = {}
        for site in sorted(self.sites, key=lambda site: site.start):
            seen[site.key] = site.nth = seen.get(site.key, 0) + 1
        return self.sites


def find(file, source, arguments, directory, path):
    """The sites of a file: its name in the tree, its bytes, and how and as what it is compiled."""
    before = os.getcwd()
    os.chdir(directory)
    try:
        options = ci.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD
        unit = ci.Index.create().parse(path, args=arguments, options=options,
                                       unsaved_files=[(path, source.decode())])
        wrong = [text.spelling for text in unit.diagnostics if text.severity >= ci.Diagnostic.Error]
        if wrong:
            raise ValueError(f"{file}: libclang cannot read it: {wrong[0]}")
        return _Finder(file, source).find(unit, path)
    finally:
        os.chdir(before)
