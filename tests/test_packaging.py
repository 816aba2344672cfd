"""The layout: four top-level folders that install as backtrail.*, and nothing else."""

from __future__ import annotations

import importlib.metadata
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("envs", "agents", "training", "benchmarks")

pytestmark = pytest.mark.skipif(not (ROOT / "pyproject.toml").exists(), reason="the tests run away from the checkout")


def shipped(folder: str) -> set[Path]:
    """The files of a top-level folder that ship: those that git tracks or would; all, where there is no git."""
    if (ROOT / ".git").exists():
        command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", folder]
        listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
        return {Path(name) for name in listed.split("\0") if name and (ROOT / name).is_file()}
    found = (path for path in (ROOT / folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(ROOT) for path in found}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Wheel and sdist: those that BACKTRAIL_DIST holds, or built now."""
    pytest.importorskip("build")
    folder = Path(os.environ.get("BACKTRAIL_DIST") or tmp_path_factory.mktemp("dist"))
    if "BACKTRAIL_DIST" not in os.environ:
        command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
        subprocess.run(command, check=True, capture_output=True)
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, sdist


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_holds_its_package_and_nothing_beside_it(folder: str) -> None:
    assert {path.parts[:3] for path in shipped(folder)} == {(folder, "backtrail", folder)}
    package = ROOT / folder / "backtrail" / folder
    assert (package / "py.typed").is_file()
    missing = {path.parent for path in package.rglob("*.py") if not (path.parent / "__init__.py").is_file()}
    assert not missing, "folders with modules need an __init__.py"


def test_every_tool_knows_the_four_folders() -> None:
    tool = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
    build, roots = tool["hatch"]["build"], set(FOLDERS)
    assert {path.parent.name for path in ROOT.glob("*/backtrail")} == roots
    assert set(build["dev-mode-dirs"]) == set(tool["ruff"]["src"]) == roots
    assert {path.partition("/")[0] for path in build["targets"]["wheel"]["packages"]} == roots
    assert roots | {"tests"} <= set(build["targets"]["sdist"]["only-include"])
    assert set(tool["pyright"]["include"]) == roots | {"tests"} == set(tool["pyright"]["extraPaths"])
    assert set(tool["ruff"]["lint"]["flake8-tidy-imports"]["banned-api"]) == roots
    assert roots | {"tests", "docs", "README.md"} == set(tool["pytest"]["ini_options"]["testpaths"])


@pytest.mark.slow
def test_the_wheel_is_the_tree(built: tuple[Path, Path]) -> None:
    names = {name for name in zipfile.ZipFile(built[0]).namelist() if ".dist-info/" not in name}
    assert names == {Path(*path.parts[1:]).as_posix() for folder in FOLDERS for path in shipped(folder)}
    with tarfile.open(built[1]) as sdist:
        members = {member.name.partition("/")[2] for member in sdist.getmembers() if member.isfile()}
        assert not any(member.issym() or member.islnk() for member in sdist.getmembers())
    assert {path.as_posix() for folder in FOLDERS for path in shipped(folder)} <= members


def test_everything_imports_as_backtrail_and_no_general_name_is_taken() -> None:
    code = f"""
import importlib, importlib.util, pkgutil, backtrail
names = [module.name for module in pkgutil.walk_packages(backtrail.__path__, "backtrail.")]
for name in names: importlib.import_module(name)
assert {{name.split(".")[1] for name in names}} == set({FOLDERS!r}), names
assert not [name for name in {(*FOLDERS, "tests")!r} if importlib.util.find_spec(name)]
"""
    subprocess.run([sys.executable, "-I", "-c", code], cwd=ROOT.anchor, check=True)


def test_the_core_imports_nothing_but_its_dependencies() -> None:
    """The wrappers must be light: no torch, no command line, no report library, no original stack."""
    code = (
        "import sys, gymnasium as gym, backtrail.envs, backtrail.agents; env = gym.make('backtrail/ALFWorld-v0'); env.reset()\n"
        "heavy = {'torch', 'typer', 'rich', 'matplotlib', 'jinja2', 'alfworld', 'textworld', 'hypothesis', 'pytest'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-I", "-c", code], cwd=ROOT.anchor, check=True)


def test_dependencies_point_one_way() -> None:
    """Folders import only folders to their left: envs, agents, training, benchmarks."""
    for number, folder in enumerate(FOLDERS):
        later = "|".join(FOLDERS[number + 1 :]) or "nothing"
        for path in (ROOT / folder).rglob("*.py"):
            found = re.search(rf"^\s*(?:from|import) backtrail\.({later})\b", path.read_text(), re.MULTILINE)
            assert not found, f"{path} imports {found and found[1]}"


def test_modules_are_short() -> None:
    long = {
        str(p): n for f in FOLDERS for p in (ROOT / f).rglob("*.py") if (n := len(p.read_text().splitlines())) > 350
    }
    assert not long


def test_no_module_was_loaded_under_two_names() -> None:
    seen: dict[str, list[str]] = {}
    for name, module in list(sys.modules.items()):
        path = Path(getattr(module, "__file__", None) or "/").resolve()
        if name != "__main__" and any(path.is_relative_to(ROOT / folder) for folder in FOLDERS):
            seen.setdefault(str(path), []).append(name)
    assert not {path: names for path, names in seen.items() if len(names) > 1}


def test_the_command_is_installed() -> None:
    (script,) = [
        entry for entry in importlib.metadata.distribution("backtrail").entry_points if entry.name == "backtrail"
    ]
    assert callable(script.load())


def test_every_dependency_is_explained() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    listed = project["dependencies"] + [line for extra in project["optional-dependencies"].values() for line in extra]
    explained = (ROOT / "docs" / "dependencies.md").read_text()
    names = {re.split(r"[\[>=<~ ]", line)[0] for line in listed} - {"backtrail"}
    assert not [name for name in names if f"`{name}`" not in explained]
