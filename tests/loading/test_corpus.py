"""Manifests as they are found in public, where a folder of them lies beside the project."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
import yaml

from reconverge.loading import LoadError, load, yaml_text
from reconverge.loading.instances import EKS
from reconverge.model.resources import Capacity, Resources

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus"
pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="there is no folder of manifests beside the project")
FILES = sorted(each for each in CORPUS.rglob("*") if each.is_file() and each.suffix in (".yaml", ".yml", ".json"))

ERRORS = {
    "examples/failure_cases_configs/h2.yaml": 'h2.yaml:20: "apiVersion" is given twice in one document',
    "dev/scale-test/statefulset.yaml": "statefulset.yaml:4: this is a template",
    "pkg/daemon/multus/host-daemonset.yaml": "this is a template",
    "fixtures/duplicate_property.yaml": "on lines 13 and 16",
    "fixtures/missing_kind.yaml": "this object has no kind",
    "testdata/pod-topology-spread-constraints-invalid-maxskew.yaml": "maxSkew must be at least 1, not 0",
    "testdata/pod-topology-spread-constraints-invalid-whenunsatisfiable.yaml": 'Did you mean "DoNotSchedule"?',
    "testdata/pod-topology-spread-constraints-no-topologykey.yaml": "topologyKey is required",
}
COUNTS = {
    "manifests/ha/install.yaml": 20,
    "release/kubernetes-manifests.yaml": 24,
    "deploy/kubernetes/complete-demo.yaml": 28,
    "deploy/longhorn.yaml": 8,
    "setup/0alertmanagerConfigCustomResourceDefinition.yaml": 0,
    "testdata/utf-16/utf-16.yaml": 0,
    "testdata/json-list/list.json": 0,
    "testdata/null-list/null-list.yaml": 0,
    "testdata/weird-list/weird-list.yaml": 0,
    "score/testdata/list.yaml": 2,
    "examples/c3/configs/yaml/deploy.yaml": 1,
}


def found(ending: str) -> Path:
    matches = [each for each in FILES if each.as_posix().endswith(f"/{ending}")]
    if not matches:
        pytest.skip(f"no {ending} among the manifests")
    return matches[0]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(CORPUS).as_posix())
def test_every_file_is_read_or_gives_one_clear_error(file: Path) -> None:
    try:
        load([file])
    except LoadError as error:
        said = str(error)
        assert said.startswith(str(file))
        assert said.removeprefix(str(file)).split(":")[1].isdigit()
        assert "\n" not in said


@pytest.mark.parametrize("ending", ERRORS)
def test_the_nasty_ones_say_what_is_wrong(ending: str) -> None:
    with pytest.raises(LoadError) as caught:
        load([found(ending)])
    assert ERRORS[ending] in str(caught.value)


@pytest.mark.parametrize("ending", COUNTS)
def test_the_good_ones_give_their_objects(ending: str) -> None:
    assert len(load([found(ending)]).objects) == COUNTS[ending]


def test_the_parser_in_python_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    file = found("manifests/ha/install.yaml")
    expected = load([file])
    monkeypatch.setattr(yaml_text, "PARSER", yaml.BaseLoader)
    again = load([file])
    assert again.objects == expected.objects
    assert [each.where() for each in again.raw] == [each.where() for each in expected.raw]


def test_every_machine_type_of_ours_has_the_published_allocatable() -> None:
    table = CORPUS / "eks_allocatable.tsv"
    if not table.exists():
        pytest.skip("no table of machine types")
    with table.open() as lines:
        rows = {row["type"]: row for row in csv.DictReader(lines, delimiter="\t")}
    compared = 0
    for name, machine in EKS.items():
        if name in rows:
            row, compared = rows[name], compared + 1
            milli, mib = int(row["alloc_cpu"].removesuffix("m")), int(row["alloc_memory"].removesuffix("Mi"))
            ours = machine.allocatable()
            plain = Resources(ours.resources.cpu, ours.resources.memory)
            assert Capacity(plain, ours.pods) == Capacity(Resources(milli, mib * 2**20), int(row["pods"])), name
    assert compared >= 0.95 * len(EKS)
