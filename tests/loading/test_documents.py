"""Files and texts to documents: splitting, lists, encodings, what is skipped and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from reconverge.loading import Loaded, LoadError, load, load_text

SERVICE = "apiVersion: v1\nkind: Service\nmetadata: {name: %s}\nspec: {selector: {app: web}}\n"
CRD = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: x}\nspec:\n"


def names(loaded: Loaded) -> list[str]:
    return [each.name for each in loaded.objects]


def error(text: str) -> str:
    with pytest.raises(LoadError) as caught:
        load_text(text, "a.yaml")
    return str(caught.value)


def test_documents_are_split_and_empty_ones_dropped() -> None:
    text = f"# head\n---\n{SERVICE % 'one'}---\n---\n# nothing\n--- # more\n{SERVICE % 'two'}...\n---\n"
    loaded = load_text(text, "a.yaml")
    assert names(loaded) == ["one", "two"]
    assert [each.where() for each in loaded.raw] == ["a.yaml:3", "a.yaml:11"]
    assert loaded.raw[1].where(("spec", "selector")) == "a.yaml:14"


def test_directives_and_windows_line_ends_are_taken() -> None:
    text = f"%YAML 1.1\n---\n{SERVICE % 'one'}".replace("\n", "\r\n")
    assert names(load(["-"], stdin=text)) == ["one"]


def test_a_separator_inside_a_block_of_text_is_text() -> None:
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  x: |\n    ---\n    kind: Pod\n"
    assert load_text(text, "a.yaml").skipped == {"ConfigMap": 1}


def test_other_kinds_are_counted_without_parsing_them() -> None:
    broken = "apiVersion: v1\nkind: Secret\ndata:\n\t{{ broken }}\n"
    loaded = load_text(f"{CRD}---\n{broken}---\n{SERVICE % 'one'}", "a.yaml")
    assert loaded.skipped == {"CustomResourceDefinition": 1, "Secret": 1}
    assert names(loaded) == ["one"]


def test_a_kind_of_a_foreign_group_is_not_mistaken_for_ours() -> None:
    text = "apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: {name: a}\n"
    loaded = load_text(text, "a.yaml")
    assert loaded.skipped == {"Service.serving.knative.dev": 1}
    assert [each.name for each in loaded.pod_makers] == ["a"]


def test_a_wrong_version_of_a_known_kind_is_an_error() -> None:
    assert error("apiVersion: app/v1\nkind: Deployment\n").endswith('Did you mean "apps/v1"?')
    assert "no Deployment in" in error("apiVersion: apps/v2\nkind: Deployment\n")
    assert error("kind: Deployment\nmetadata: {name: a}\n") == (
        'a.yaml:1: this object has no apiVersion. Did you mean "apps/v1"?'
    )


@pytest.mark.parametrize("items", ["", " []", " null"])
def test_an_empty_list_holds_nothing(items: str) -> None:
    assert load_text(f"apiVersion: v1\nkind: List\nitems:{items}\n", "a.yaml").objects == ()


def test_list_items_know_their_lines() -> None:
    text = "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Service\n  metadata:\n    name: a\n"
    (document,) = load_text(text, "a.yaml").raw
    assert document.where() == "a.yaml:4"
    assert document.where(("metadata", "name")) == "a.yaml:7"


def test_items_of_a_typed_list_need_not_repeat_their_kind() -> None:
    loaded = load_text("apiVersion: v1\nkind: ServiceList\nitems:\n- metadata: {name: a}\n", "a.yaml")
    assert names(loaded) == ["a"]
    assert loaded.raw[0].value["kind"] == "Service"


def test_a_kind_that_merely_ends_in_list_is_an_object() -> None:
    text = "apiVersion: v1\nkind: NotAList\nitems:\nspec: {foo: bar}\n"
    assert load_text(text, "a.yaml").skipped == {"NotAList": 1}


def test_bad_lists_are_errors() -> None:
    assert "items must be a list" in error("apiVersion: v1\nkind: List\nitems: {a: 1}\n")
    assert "items[0] must be an object" in error("apiVersion: v1\nkind: List\nitems: [3]\n")
    assert "bare list" in error("- apiVersion: v1\n  kind: Service\n")


def test_json_documents_may_follow_each_other() -> None:
    text = '{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}}\n' * 1
    text += '{"apiVersion": "v1", "kind": "Service",\n "metadata": {"name": "b"}}'
    loaded = load_text(text, "a.json")
    assert names(loaded) == ["a", "b"]
    assert [each.where() for each in loaded.raw] == ["a.json:1", "a.json:2"]
    assert loaded.raw[1].where(("metadata", "name")) == "a.json:3"


def test_json_lines_lead_into_lists() -> None:
    text = '{"kind": "List", "apiVersion": "v1", "items": [\n {},\n {"x": [1, {"y":\n 2}]}\n]}'
    with pytest.raises(LoadError, match=r"^a.json:2: this object has no kind"):
        load_text(text.replace("{},", '{"metadata": {}},'), "a.json")


def test_duplicate_keys_in_json_name_both_lines() -> None:
    text = '{"apiVersion": "v1",\n\t"kind": "Service",\n\t"spec": {"type": "a",\n\t"type": "b"}}'
    with pytest.raises(LoadError, match=r'^a.json:4: the key "type" is given twice, on lines 3 and 4$'):
        load_text(text, "a.json")


@pytest.mark.parametrize("text", ['{"kind": }', '{"a": NaN}', '{"a": 1', "{" * 9000, '{"a":' * 100_000])
def test_broken_json_is_one_error(text: str) -> None:
    with pytest.raises(LoadError, match=r"^a.json:\d+: "):
        load_text(text, "a.json")


def test_flow_style_yaml_is_not_json() -> None:
    assert names(load_text("{apiVersion: v1, kind: Service, metadata: {name: a}}", "a.yaml")) == ["a"]


def test_an_object_without_kind_is_an_error() -> None:
    assert error("apiVersion: v1\nmetadata: {name: a}\n") == "a.yaml:1: this object has no kind"
    assert error("apiVersion: v1\nkind:\n") == "a.yaml:1: this object has no kind"
    assert error("apiVersion: v1\nkind: 3\n") == "a.yaml:2: kind must be a string"
    assert "not a Kubernetes object" in error("just text\n")


def test_a_templated_kind_is_a_template() -> None:
    assert "template" in error("apiVersion: v1\nkind: ${KIND}\n")
    assert "template" in error("{{ include . }}\n")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_every_encoding_of_unicode_is_read(tmp_path: Path, encoding: str) -> None:
    file = tmp_path / "a.yaml"
    file.write_bytes((SERVICE % "one").replace("\n", "\r\n").encode(encoding))
    assert names(load([file])) == ["one"]


def test_what_is_no_text_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_bytes(b"a: 1\nb: \xff\xff\n")
    with pytest.raises(LoadError, match=r"a.yaml:2: this is not utf-8 text"):
        load([file])


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="no such file"):
        load([tmp_path / "a.yaml"])
    with pytest.raises(LoadError, match="standard input"):
        load(["-"])


def test_a_directory_is_read_in_order_without_what_is_not_kubernetes(tmp_path: Path) -> None:
    files = {
        "b.yml": SERVICE % "b",
        "a.yaml": SERVICE % "a",
        "sub/c.json": '{"metadata": {"name": "c"}, "apiVersion": "v1", "kind": "Service"}',
        ".hidden/x.yaml": "broken: [",
        "notes.txt": "broken: [",
        "mkdocs.yml": "nav: !!python/name:x\n",
        "docker.yaml": "services: {a: {}}\n",
        "sub/kustomization.yaml": "resources: [a]\n",
        "chart/Chart.yaml": "name: x\n",
        "chart/templates/d.yaml": "{{ broken\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text(text)
    loaded = load([tmp_path])
    assert names(loaded) == ["a", "b", "c"]
    assert loaded.skipped == {"Kustomization": 1}
    assert [each.removeprefix(f"{tmp_path}/") for each in loaded.files][:3] == ["a.yaml", "b.yml", "docker.yaml"]
    said = [str(each).removeprefix(f"{tmp_path}/") for each in loaded.notes]
    assert [each.split(":")[0] for each in said] == ["chart", "docker.yaml", "mkdocs.yml", "sub/kustomization.yaml"]


def test_an_empty_directory_and_a_bare_chart_are_errors(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match=r"no \.yaml"):
        load([tmp_path])
    (tmp_path / "Chart.yaml").write_text("name: x\n")
    with pytest.raises(LoadError, match="helm template"):
        load([tmp_path])


def test_one_object_twice_is_kept_once_and_two_different_ones_are_an_error() -> None:
    one = SERVICE % "one"
    assert names(load_text(f"{one}---\n{one}", "a.yaml")) == ["one"]
    other = one.replace("web", "api")
    assert "service/one is given twice, also at a.yaml:1" in error(f"{one}---\n{other}")
    namespaced = other.replace("{name: one}", "{name: one, namespace: x}")
    assert names(load_text(f"{one}---\n{namespaced}", "a.yaml")) == ["one", "one"]
