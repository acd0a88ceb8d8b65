"""Which module imports which, read off the source without running it, and rules about it.

Every import counts, those inside functions and under TYPE_CHECKING too. A rule looks along whole
chains: a module without a place in the contract cannot carry a forbidden import past it.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path


def belongs(module: str, entry: str) -> bool:
    """Whether a module is what an entry of a contract names.

    "a.b" is the module or package a.b with all inside it; a bare "a" is only a/__init__.py.
    """
    return module == entry or ("." in entry and module.startswith(entry + "."))


def among(entries: Iterable[str]) -> Callable[[str], bool]:
    """Whether a module is what one of the entries names."""
    named = tuple(entries)
    return lambda module: any(belongs(module, entry) for entry in named)


class ImportGraph:
    """The imports between the modules of some packages, and those of other distributions."""

    def __init__(self, root: Path, packages: Sequence[str]) -> None:
        self.paths = {
            _module_name(path, root): path
            for package in packages
            for path in sorted((root / package).rglob("*.py"))
        }
        self.imports = {module: set(self._imports_of(module)) for module in self.paths}

    def _imports_of(self, module: str) -> Iterator[str]:
        path = self.paths[module]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
            if isinstance(node, ast.Import):
                yield from (self._resolve(alias.name) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                base = node.module or ""
                if node.level:
                    depth = node.level - (path.name == "__init__.py")
                    package = module.rsplit(".", depth)[0] if depth else module
                    base = f"{package}.{base}" if base else package
                yield from (self._resolve(f"{base}.{alias.name}") for alias in node.names)

    def _resolve(self, name: str) -> str:
        """The module of ours that a dotted name lies in, or the name itself."""
        parts = name.split(".")
        for end in range(len(parts), 0, -1):
            if ".".join(parts[:end]) in self.paths:
                return ".".join(parts[:end])
        return name

    def inside(self, *entries: str) -> list[str]:
        """The modules that the entries name."""
        return list(filter(among(entries), self.paths))

    def chain(
        self,
        start: str,
        is_goal: Callable[[str], bool],
        may_pass: Callable[[str], bool] = lambda module: True,
    ) -> str | None:
        """The shortest chain of imports from a module to a goal, as "a -> b -> c"."""
        came_from = {start: ""}
        queue = deque([start])
        while queue:
            module = queue.popleft()
            for imported in sorted(self.imports.get(module, ())):
                if imported in came_from:
                    continue
                came_from[imported] = module
                if is_goal(imported):
                    return self._spell(imported, came_from)
                if may_pass(imported):
                    queue.append(imported)
        return None

    @staticmethod
    def _spell(module: str, came_from: dict[str, str]) -> str:
        steps = [module]
        while came_from[steps[-1]]:
            steps.append(came_from[steps[-1]])
        return " -> ".join(reversed(steps))


def _module_name(path: Path, root: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def upward_imports(graph: ImportGraph, layers: Sequence[Sequence[str]]) -> Iterator[str]:
    """Chains that lead from a layer to one above it; `layers` go from the top down."""
    for depth, layer in enumerate(layers):
        above = [entry for higher in layers[:depth] for entry in higher]
        for module in graph.inside(*layer):
            chain = graph.chain(module, among(above))
            if chain:
                yield f"upward: {chain}"


def imports_across(graph: ImportGraph, entries: Sequence[str]) -> Iterator[str]:
    """Chains between entries of which none may know another."""
    for own in entries:
        others = [entry for entry in entries if entry != own]
        for module in graph.inside(own):
            chain = graph.chain(module, among(others))
            if chain:
                yield f"across: {chain}"


def sibling_imports(graph: ImportGraph, package: str, shared: Iterable[str] = ()) -> Iterator[str]:
    """Chains inside a package from one of its parts to another, except to the shared ones."""
    free = {f"{package}.{name}" for name in shared}
    depth = package.count(".") + 2
    inside = set(graph.inside(package))
    part = {module: ".".join(module.split(".")[:depth]) for module in inside}
    for module in sorted(inside - {package}):
        allowed = free | {part[module], package}
        closed = {m for m in inside if part[m] not in allowed}
        chain = graph.chain(module, closed.__contains__, may_pass=inside.__contains__)
        if chain:
            yield f"sibling: {chain}"


def imports_of_a_leaf(graph: ImportGraph, leaf: str) -> Iterator[str]:
    """Imports by which a leaf knows any other part of our own packages."""
    for module in graph.inside(leaf):
        for imported in sorted(graph.imports[module]):
            if imported in graph.paths and not belongs(imported, leaf):
                yield f"leaf: {module} -> {imported}"


def forbidden_imports(
    graph: ImportGraph, modules: Iterable[str], forbidden: Iterable[str]
) -> Iterator[str]:
    """Chains from modules to packages (ours or foreign) that they must do without."""
    names = set(forbidden)
    for module in modules:
        chain = graph.chain(module, lambda m: m.split(".")[0] in names)
        if chain:
            yield f"forbidden: {chain}"
