"""Every sentence that the core can say about a file, a model or a run, read off its source."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import model_core

CORE = Path(model_core.__file__).parent
# Where errors and warnings are worded that can reach the window.
MODULES = (
    "__init__",
    "beams",
    "bundled",
    "chat",
    "config",
    "constraints",
    "decoding",
    "generation",
    "model",
    "reading",
    "sampling",
    "ops/embedding",
    *(f"checkpoints/{path.stem}" for path in sorted((CORE / "checkpoints").glob("*.py"))),
    *(f"tokenizers/{path.stem}" for path in sorted((CORE / "tokenizers").glob("*.py"))),
    *(
        f"training/{name}"
        for name in (
            *("cleaning", "data_files", "file_look", "guard", "held_out"),
            *("lab", "lab_data", "lab_run", "loop"),
            *("pairs", "step_resume"),
            *("problems", "resume", "settings", "snapshots", "splitting", "text_files", "worker"),
        )
    ),
)
# What is called with a sentence or a part of one -> which arguments.
SPEAKERS = {
    "CheckpointError": slice(1, 3),
    "DataFileError": slice(1, 3),
    "undecided": slice(1, 3),
    # what is impossible and why, and what to do instead
    "Problem": slice(1, 3),
    "DivergedError": slice(0, 1),
    "_stop": slice(1, 2),
    "stop": slice(0, 1),
    "Failed": slice(0, 1),
    "Refused": slice(0, 1),
    "error": slice(0, 2),
    "ValueError": slice(0, 1),
    "LookupError": slice(0, 1),
    "Looks": slice(1, 2),
    "named": slice(1, 2),
    "append": slice(0, 1),
    # the name of what they parse
    "parse": slice(2, 3),
    "read_file": slice(1, 2),
}
# Tables and functions whose texts are sentences.
TABLES = ("SIGNATURES", "LEFT_OUT")
FUNCTIONS = ("misfit", "misfit_of", "_short", "named_type")
GAP = "{}"


def sentences() -> dict[str, str]:
    """Sentence, with {} for what is filled in -> the module that says it."""
    found: dict[str, str] = {}
    trees = {name: ast.parse((CORE / f"{name}.py").read_text(encoding="utf-8")) for name in MODULES}
    constants = {
        target.id: node.value
        for tree in trees.values()
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for name, tree in trees.items():
        for text in _of_module(tree, constants):
            for part in text.split(", expected "):
                if part.strip(" {},()"):
                    found.setdefault(part, name)
    return found


def _of_module(tree: ast.Module, constants: dict[str, ast.expr]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            names = _assigned(node)
            for call in ast.walk(node):
                if isinstance(call, ast.Call) and (at := SPEAKERS.get(_name(call.func))):
                    speaker = ast.unparse(call.func)
                    if speaker.endswith("append") and "warnings" not in speaker:
                        continue
                    for argument in call.args[at]:
                        for text in _texts(argument, names, constants):
                            if speaker == "named":
                                # a warning's own words go behind the names of what they are about
                                yield from (f"{GAP} {text}", f"{GAP} more: {text}")
                            else:
                                yield text
            if node.name in FUNCTIONS:
                for part in ast.walk(node):
                    if isinstance(part, ast.Return) and part.value is not None:
                        yield from _texts(part.value, names, constants)
        elif isinstance(node, ast.Assign) and _name(node.targets[0]) in TABLES:
            yield from _words_of_table(node)
        elif isinstance(node, ast.AnnAssign) and _name(node.target) in TABLES:
            yield from _words_of_table(node)


def _words_of_table(node: ast.Assign | ast.AnnAssign) -> Iterator[str]:
    assert isinstance(node.value, ast.Tuple)
    for row in node.value.elts:
        assert isinstance(row, ast.Tuple)
        for words in row.elts:
            # beside the sentences there are names, of one word
            yield from (text for text in _texts(words, {}, {}) if " " in text)


def _assigned(function: ast.FunctionDef) -> dict[str, list[ast.expr]]:
    """Local name -> all that it is ever set to."""
    names: dict[str, list[ast.expr]] = {}
    for node in ast.walk(function):
        if not isinstance(node, ast.Assign):
            continue
        for target in node.targets:
            if isinstance(target, ast.Name):
                names.setdefault(target.id, []).append(node.value)
            elif isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                for one, value in zip(target.elts, node.value.elts):
                    names.setdefault(_name(one), []).append(value)
    return names


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""


def _texts(
    node: ast.expr, names: dict[str, list[ast.expr]], constants: dict[str, ast.expr]
) -> Iterator[str]:
    """What an argument may be as text; nothing for what is computed elsewhere."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        pieces = [""]
        for part in node.values:
            pieces = [before + piece for before in pieces for piece in _pieces(part, names)]
        yield from pieces
    elif isinstance(node, ast.IfExp):
        yield from _texts(node.body, names, constants)
        yield from _texts(node.orelse, names, constants)
    elif isinstance(node, ast.Tuple | ast.List):
        for part in node.elts:
            yield from _texts(part, names, constants)
    elif isinstance(node, ast.Subscript):
        yield from _texts(node.value, names, constants)
    elif isinstance(node, ast.Name):
        for value in names.get(node.id, []):
            yield from _texts(value, {k: v for k, v in names.items() if k != node.id}, constants)
        if node.id in constants and node.id not in names:
            yield from _texts(constants[node.id], {}, constants)


def _pieces(part: ast.expr, names: dict[str, list[ast.expr]]) -> list[str]:
    """What a part of an f-string adds: words that are chosen there, else a gap."""
    if isinstance(part, ast.Constant):
        return [str(part.value)]
    assert isinstance(part, ast.FormattedValue)
    value = part.value
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        joint = value.func.value
        if value.func.attr == "join" and isinstance(joint, ast.Constant):
            return [GAP if str(joint.value).strip(" ,") == "" else f"{GAP}{joint.value}{GAP}"]
    if isinstance(value, ast.Call) and _name(value.func) == "_and_more":
        return ["", f" (and {GAP} more)"]
    if isinstance(value, ast.Name):
        chosen = [one for one in names.get(value.id, []) if isinstance(one, ast.IfExp)]
        if chosen:
            return list(_texts(chosen[0], {}, {})) or [GAP]
    return [GAP]
