"""./run wheel: wheels that install without a compiler, in dist/.

One is for Python 3.11, one for the stable ABI of 3.12, which is that of all later versions. The compiler is clang from
the package ziglang, which links against glibc 2.28 wherever it runs, and puts its own C++ library into the module: the
result is manylinux_2_28. Three checks follow: auditwheel on the platform, abi3audit on the stable ABI, and every Python
at hand installs the wheel into an empty environment, with no compiler on the PATH, runs quickstart, and translates.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "build" / "wheels"
GLIBC = "2.28"
OLDEST, STABLE = (3, 11), (3, 12)  # an own wheel; the one that later versions share
BASELINE = {"x86_64": "x86_64_v2"}  # as zig spells it; elsewhere the compiler's default
ASK = "import sys, sysconfig; print(*sys.version_info[:2], sysconfig.get_path('include'))"


def pythons() -> dict[tuple[int, int], Path]:
    """The interpreters of this machine that have headers, by version: on the PATH, of pyenv, of uv."""
    folders = [Path(sys.executable).parent, *map(Path, os.environ.get("PATH", "").split(os.pathsep))]
    for root in (os.environ.get("PYENV_ROOT"), "~/.pyenv"):
        folders += sorted(Path(root or "/nowhere").expanduser().glob("versions/*/bin"))
    folders += sorted(Path("~/.local/share/uv/python").expanduser().glob("*/bin"))
    found: dict[tuple[int, int], Path] = {}
    for minor in range(OLDEST[1], 30):
        for folder in folders:
            path = folder / f"python3.{minor}"
            if (3, minor) not in found and path.exists() and _usable(path, minor):
                found[3, minor] = path
    return found


def _usable(python: Path, minor: int) -> bool:
    """Whether it is what its name says (shims of pyenv may lead nowhere) and can be compiled against."""
    asked = subprocess.run([python, "-c", ASK], capture_output=True, text=True)
    said = asked.stdout.split(maxsplit=2)
    return said[:2] == ["3", str(minor)] and (Path(said[2].strip()) / "Python.h").exists()


def compiler(machine: str) -> dict[str, Path]:
    """Programs that CMake can call as a compiler and an archiver: zig with its arguments.

    It compiles its C++ library for each kind of code that it is asked for: so let CMake's trials be of the kind needed.
    """
    import ziglang  # type: ignore[import-untyped]

    zig = Path(ziglang.__file__).parent / "zig"
    folder = WORK / f"zig-{machine}"
    folder.mkdir(parents=True, exist_ok=True)
    made = {}
    for name, call in {
        "c++": f"c++ -O3 -fPIC -target {machine}-linux-gnu.{GLIBC}",
        "ar": "ar",
        "ranlib": "ranlib",
    }.items():
        made[name] = folder / name
        text = f'#!/bin/sh\nexec "{zig}" {call} "$@"\n'
        if not made[name].exists() or made[name].read_text() != text:
            made[name].write_text(text)
            made[name].chmod(0o755)
    return made


def run(command: Sequence[str | Path], **more: object) -> None:
    print("wheel:", *(str(word) for word in command), file=sys.stderr, flush=True)
    if code := subprocess.run([str(word) for word in command], cwd=ROOT, **more).returncode:  # type: ignore[call-overload]
        sys.exit(f"wheel: this failed with {code}, see above")


def environment(python: Path, folder: Path) -> Path:
    """An empty environment of that Python; its interpreter."""
    run([python, "-m", "venv", "--clear", folder])
    return folder / "bin" / "python"


def build(python: Path, machine: str) -> Path:
    """A wheel by that Python, not yet named after the platform it is good for."""
    tools = compiler(machine)
    raw = WORK / "raw"
    shutil.rmtree(raw, ignore_errors=True)
    settings = {
        "build-dir": str(WORK / "{wheel_tag}"),
        "cmake.define.CMAKE_CXX_COMPILER": tools["c++"],
        "cmake.define.CMAKE_AR": tools["ar"],
        "cmake.define.CMAKE_RANLIB": tools["ranlib"],
        "cmake.define.HOPEFEAR_MARCH": BASELINE.get(machine, ""),
    }
    chosen = [word for name, value in settings.items() for word in ("-C", f"{name}={value}")]
    inside = environment(python, WORK / "build-environment")
    run([inside, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", raw, *chosen, ROOT])
    return next(raw.glob("*.whl"))


def repair(wheel: Path, machine: str, dist: Path) -> Path:
    """The wheel under its platform's name, if auditwheel agrees that it is good for it."""
    before = {*dist.glob("*.whl")}
    tag = f"manylinux_{GLIBC.replace('.', '_')}_{machine}"
    run([sys.executable, "-m", "auditwheel", "repair", "--plat", tag, "--only-plat", "--wheel-dir", dist, wheel])
    return next(iter({*dist.glob("*.whl")} - before))


def try_out(wheel: Path, python: Path) -> None:
    """Quickstart, and a tiny translator, from the wheel in an empty environment that is alone on the PATH."""
    with tempfile.TemporaryDirectory() as folder:
        inside = environment(python, Path(folder) / "venv")
        bare = {**os.environ, "PATH": str(inside.parent), "PYTHONPATH": ""}
        run([inside, "-m", "pip", "install", "--quiet", "--no-compile", "--only-binary", ":all:", wheel], env=bare)
        hopefear, text, model = inside.parent / "hopefear", Path(folder) / "text", Path(folder) / "model"
        run([hopefear, "quickstart", "--quiet", "--out", Path(folder) / "quickstart"], env=bare)
        text.write_text("a b c d\nb c d e\nc d e a\n" * 10)
        run([hopefear, "build", "--quiet", "--source", text, "--target", text, "--out", model], env=bare)
        with text.open() as lines:
            run([hopefear, "translate", model, "--quiet"], env=bare, stdin=lines)


def wanted(found: dict[tuple[int, int], Path]) -> Iterator[tuple[Path, list[Path]]]:
    """Who builds a wheel, and who is to try it."""
    if OLDEST in found:
        yield found[OLDEST], [found[OLDEST]]
    if later := {version: path for version, path in found.items() if version >= STABLE}:
        yield later[min(later)], [*later.values()]


def main() -> None:
    parser = argparse.ArgumentParser(prog="./run wheel", description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="where the wheels go [dist]")
    options = parser.parse_args()
    machine = platform.machine()
    found = pythons()
    print("wheel: found Python", *(f"{a}.{b}" for a, b in found), file=sys.stderr)
    missing = [] if OLDEST in found else ["3.11"]
    missing += [] if any(version >= STABLE for version in found) else ["3.12 or later"]
    if missing:
        print(f"wheel: no Python {' and no '.join(missing)} with headers here: no wheel for it", file=sys.stderr)
    run([sys.executable, ROOT / "packaging" / "man.py", ROOT / "build" / "man"])
    options.out.mkdir(parents=True, exist_ok=True)
    for old in options.out.glob("hopefear-*.whl"):
        old.unlink()
    for builder, users in wanted(found):
        wheel = repair(build(builder, machine), machine, options.out)
        if "-abi3-" in wheel.name:
            run([sys.executable, "-m", "abi3audit", "--strict", "--summary", wheel])
        for user in users:
            try_out(wheel, user)
        print(wheel)


if __name__ == "__main__":
    main()
