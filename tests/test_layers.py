"""The packages of hopefear point one way: a package imports those before it in this list, never those after it."""

import ast
from pathlib import Path

import pytest

SOURCES = Path(__file__).parent.parent / "src" / "hopefear"

LAYERS = [
    "errors",
    "util",
    "metrics",
    "formats",
    "documents",
    "runs",
    "reranker",
    "display",
    "evaluation",
    "trainers",
    "model",
    "corpus",
    "decode",
    "data",
    "testing",
    "reports",  # made from records: they do not know how runs are made
    "train",
    "learning",
    "translator",
    "serve",
    "creation",
    "sklearn",
    "commands",
    "api",
    "cli",
    "__main__",
]


def imports_of(path: Path) -> set[str]:
    """The modules of hopefear that a file imports anywhere, also inside functions; not those for types only."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    typing_only = {
        node
        for branch in ast.walk(tree)
        if isinstance(branch, ast.If) and "TYPE_CHECKING" in ast.unparse(branch.test)
        for node in ast.walk(branch)
    }
    names = set()
    for node in ast.walk(tree):
        if node in typing_only:
            continue
        if isinstance(node, ast.Import):
            names |= {name.name for name in node.names if name.name.startswith("hopefear.")}
        elif isinstance(node, ast.ImportFrom) and node.module == "hopefear":
            names |= {f"hopefear.{name.name}" for name in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("hopefear."):
            assert node.module is not None
            base = SOURCES.joinpath(*node.module.split(".")[1:])
            submodules = {name.name for name in node.names if (base / f"{name.name}.py").exists()}
            names |= {f"{node.module}.{name}" for name in submodules}
            names |= {node.module} if len(submodules) < len(node.names) else set()
    return names


def modules() -> dict[str, Path]:
    return {
        ".".join(["hopefear", *path.relative_to(SOURCES).with_suffix("").parts]).removesuffix(".__init__"): path
        for path in SOURCES.rglob("*.py")
    }


def layer(module: str) -> str:
    return module.split(".")[1]


def test_every_package_has_its_place() -> None:
    assert {layer(module) for module in modules() if module != "hopefear"} == {*LAYERS}


@pytest.mark.parametrize("package", LAYERS)
def test_imports_point_one_way(package: str) -> None:
    allowed = {*LAYERS[: LAYERS.index(package) + 1], "_core", "__version__"}
    upward = {
        f"{module} imports {name}"
        for module, path in modules().items()
        if module != "hopefear" and layer(module) == package
        for name in imports_of(path)
        if layer(name) not in allowed
    }
    assert not upward


def test_no_module_imports_itself_round_a_corner() -> None:
    """No cycles between modules, but for imports inside functions that a package needs to find its own parts."""
    graph = {module: {name for name in imports_at_top(path) if name != module} for module, path in modules().items()}
    done: set[str] = set()

    def visit(module: str, way: tuple[str, ...]) -> None:
        assert module not in way, " -> ".join([*way[way.index(module) :], module])
        if module in done or module not in graph:
            return
        for name in sorted(graph[module]):
            visit(name, (*way, module))
        done.add(module)

    for module in sorted(graph):
        visit(module, ())


def imports_at_top(path: Path) -> set[str]:
    """What is imported when the module is."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inner = {
        node
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
    }
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node not in inner and (node.module or "").startswith("hopefear."):
            names.add(str(node.module))
    return names & imports_of(path)
