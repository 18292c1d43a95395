"""What tests of reading manifests share: one workload to vary, and reading texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reconverge.loading import Loaded, LoadError, load_text
from reconverge.model.objects import PodSpec

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: main
        image: nginx
"""


@pytest.fixture
def read_one() -> Callable[[str], Any]:
    """Reads a text that holds exactly one object."""

    def read(text: str) -> Any:
        (only,) = load_text(text, "a.yaml").objects
        return only

    return read


@pytest.fixture
def read_all() -> Callable[[str], Loaded]:
    """Reads a text."""
    return lambda text: load_text(text, "a.yaml")


@pytest.fixture
def error_of() -> Callable[[str], str]:
    """The error that a text gives, as one line."""

    def error(text: str) -> str:
        with pytest.raises(LoadError) as caught:
            load_text(text, "a.yaml")
        said = str(caught.value)
        assert "\n" not in said
        return said

    return error


@pytest.fixture
def deployment() -> Callable[..., str]:
    """The text of a Deployment with lines added to its spec, its pod spec or its container."""

    def text(spec: str = "", pod: str = "", container: str = "", base: str = DEPLOYMENT) -> str:
        lines = base.splitlines()
        at = lines.index("spec:") + 1
        lines[at:at] = [f"  {line}" for line in spec.splitlines()]
        at = lines.index("    spec:") + 1
        lines[at:at] = [f"      {line}" for line in pod.splitlines()]
        lines += [f"        {line}" for line in container.splitlines()]
        return "\n".join(lines) + "\n"

    return text


@pytest.fixture
def spec_of(read_one: Callable[[str], Any], deployment: Callable[..., str]) -> Callable[..., PodSpec]:
    """The pod spec of a Deployment with these lines added."""

    def spec(pod: str = "", container: str = "") -> PodSpec:
        found: PodSpec = read_one(deployment(pod=pod, container=container)).template.spec
        return found

    return spec
