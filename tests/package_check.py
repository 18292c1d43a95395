"""Builds the distribution as a user gets it and tries it where nothing of the tree is in reach.

Run as `python tests/package_check.py`, in an environment with the development tools; `.ci/run` does. It builds the
sdist and, from that, the wheel; compares both with the tree; installs the wheel in an empty environment; imports every
module; and runs the command and the pytest plugin in a project that has `model/`, `invariants/` and `reports/` folders
of its own. It is a script, not a test, because it needs minutes rather than milliseconds and installs packages.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import venv
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE_ROOTS = ("model", "invariants", "reports")

IMPORT_EVERYTHING = """\
import importlib, pkgutil, sys
import reconverge
assert reconverge.__file__ is None, "reconverge is no longer a namespace: " + str(reconverge.__file__)
names = sorted(module.name for module in pkgutil.walk_packages(reconverge.__path__, "reconverge.", onerror=print))
for name in names:
    if name.rpartition(".")[2] != "__main__":
        importlib.import_module(name)
print("\\n".join(names))
"""

SCENARIO = """\
apiVersion: reconverge/v1alpha1
kind: Scenario
metadata: {{name: {name}}}
spec:
  objects:
    - apiVersion: apps/v1
      kind: Deployment
      metadata: {{name: web}}
      spec:
        replicas: 2
        selector: {{matchLabels: {{app: web}}}}
        template:
          metadata: {{labels: {{app: web}}}}
          spec:
            containers:
              - {{name: web, image: web:1, resources: {{requests: {{cpu: 100m, memory: 64Mi}}}}}}
  nodePools:
    - {{name: workers, count: 2, allocatable: {{cpu: "2", memory: 4Gi, pods: 110}}}}
  may: {{cordon: 1}}
  events: 1
  deviations: 0
  check: [requests-within-capacity]
{expect}"""

SCENARIOS = {
    "meets.scenario.yaml": SCENARIO.format(name="meets", expect=""),
    "misses.scenario.yaml": SCENARIO.format(name="misses", expect="  expect: {violated: [requests-within-capacity]}\n"),
}


class CheckFailed(Exception):
    """The distribution is not what it should be; the text says in which way."""


def run(
    command: Sequence[str | Path], *, cwd: Path, expect: int = 0, environment: Mapping[str, str] | None = None
) -> str:
    """Run a command and give what it wrote; any exit code but the expected one is a failure that shows it."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=600,
    )
    if done.returncode != expect:
        words = " ".join(str(part) for part in command)
        raise CheckFailed(f"`{words}` ended with {done.returncode}, not {expect}:\n{done.stdout}")
    return done.stdout


def package_files(root: Path) -> set[str]:
    """Every file that must be in the wheel, by its path there."""
    return {
        path.relative_to(root / source).as_posix()
        for source in SOURCE_ROOTS
        for path in (root / source / "reconverge").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc"
    }


def compare(what: str, there: Iterable[str], wanted: Iterable[str]) -> None:
    """Refuse a difference between what an archive holds and what it should."""
    there, wanted = set(there), set(wanted)
    lines = [f"lacks {name}" for name in sorted(wanted - there)] + [
        f"has also {name}" for name in sorted(there - wanted)
    ]
    if lines:
        raise CheckFailed(f"the {what} differs from the tree:\n" + "\n".join(f"  {line}" for line in lines))


def build(out: Path) -> Path:
    """Build the sdist, and the wheel from the sdist; give the wheel."""
    run([sys.executable, "-m", "build", "--outdir", out, ROOT], cwd=out.parent)
    (sdist,) = out.glob("*.tar.gz")
    (wheel,) = out.glob("*.whl")
    with tarfile.open(sdist) as archive:
        names = [member.name.partition("/")[2] for member in archive if member.isfile()]
    in_roots = [
        name.partition("/")[2]
        for name in names
        if name.startswith(tuple(f"{root}/reconverge/" for root in SOURCE_ROOTS))
    ]
    compare("sdist", in_roots, package_files(ROOT))
    for name in ("LICENSE", "README.md", "tests/package_check.py"):
        if name not in names:
            raise CheckFailed(f"the sdist lacks {name}")
    with zipfile.ZipFile(wheel) as archive:
        compare("wheel", (n for n in archive.namelist() if ".dist-info/" not in n), package_files(ROOT))
    return wheel


def make_project(project: Path) -> None:
    """Write a user's project whose own folders have the names of our source roots, and must never be ours."""
    for name in SOURCE_ROOTS:
        (project / name).mkdir(parents=True)
        (project / name / "__init__.py").write_text(f'OWNER = "the user\'s own {name}"\n')
    (project / "test_own.py").write_text(
        "import invariants\nimport model\nimport reports\n\n\n"
        "def test_the_folders_are_the_users_own():\n"
        '    assert all("own" in module.OWNER for module in (invariants, model, reports))\n'
    )
    for name, text in SCENARIOS.items():
        (project / name).write_text(text)


def try_installed(bin_folder: Path, project: Path) -> None:
    """Import every module, then use the command and the plugin as a user would."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "PYTEST", "COV"))}
    environment |= {"PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}", "NO_COLOR": "1"}

    def tried(*command: str | Path, expect: int = 0) -> str:
        return run(command, cwd=project, expect=expect, environment=environment)

    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    modules = tried(bin_folder / "python", "-I", "-c", IMPORT_EVERYTHING).split()
    wanted = {
        name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for name in package_files(ROOT)
        if name.endswith(".py")
    }
    compare("set of modules that can be imported", modules, wanted)
    said = tried(bin_folder / "reconverge", "--version")
    if version not in said.split():
        raise CheckFailed(f"`reconverge --version` does not say {version}: {said!r}")
    tried(bin_folder / "reconverge", "check", "meets.scenario.yaml")
    tried(bin_folder / "reconverge", "check", "misses.scenario.yaml", expect=1)
    pytest = (bin_folder / "python", "-m", "pytest", "-p", "no:cacheprovider")
    passed = tried(*pytest, "test_own.py", "meets.scenario.yaml")
    if "2 passed" not in passed:
        raise CheckFailed(f"the plugin did not take the scenario for a test:\n{passed}")
    failed = tried(*pytest, expect=1)
    if "1 failed" not in failed or "2 passed" not in failed:
        raise CheckFailed(f"the plugin did not tell the scenarios apart:\n{failed}")


def check() -> None:
    """Do all of it in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="reconverge-package-") as folder:
        work = Path(folder).resolve()
        wheel = build(work / "dist")
        print(f"built {wheel.name}: sdist and wheel hold what the tree holds", flush=True)
        venv.create(work / "venv", with_pip=True)
        bin_folder = work / "venv" / ("Scripts" if os.name == "nt" else "bin")
        run([bin_folder / "python", "-m", "pip", "install", "-c", ROOT / "constraints.txt", wheel], cwd=work)
        print("installed in an empty environment", flush=True)
        make_project(work / "project")
        try_installed(bin_folder, work / "project")
        print("every module imports; the command and the plugin work beside folders of the same names")


def main() -> int:
    """Check the package; 0 when all is well."""
    try:
        check()
    except CheckFailed as failure:
        print(failure, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
