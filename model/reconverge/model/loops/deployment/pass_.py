"""One pass of the Deployment controller under way: the ReplicaSets as it knows them, and the writes made so far.

Source: `pkg/controller/deployment/sync.go`, `util/deployment_util.go`.
"""

from __future__ import annotations

from reconverge.model.action import Action, Create, Delete, Patch, Update
from reconverge.model.labels import Selector, labels_of
from reconverge.model.loop import Reading
from reconverge.model.objects import Condition, Deployment, DeploymentStatus, ReplicaSet
from reconverge.model.rounding import max_surge

HASH_LABEL = "pod-template-hash"


class Pass:
    """The working state of one pass, local to it. Writes are collected in order."""

    def __init__(self, reading: Reading, deployment: Deployment, sets: list[ReplicaSet]) -> None:
        self.reading = reading
        self.deployment = deployment
        self.sets = {rs.key: rs for rs in sorted(sets, key=lambda rs: (rs.created_at, rs.deployment_revision, rs.name))}
        self.counted = dict(self.sets)
        """The sets as they were read, and one that was created: status counts these (sync.go, calculateStatus)."""
        self.actions: list[Action] = []
        self.status_written = False
        """After one status write the pass holds an old version: a second one would be refused, so it is not made."""

    # The ReplicaSets -----------------------------------------------------------------------------------------

    @property
    def all(self) -> list[ReplicaSet]:
        """All owned ReplicaSets, oldest first."""
        return list(self.sets.values())

    @property
    def new(self) -> ReplicaSet | None:
        """The oldest ReplicaSet whose template is the deployment's, or None."""
        digest = self.deployment.template.digest
        return next((rs for rs in self.sets.values() if rs.template.digest == digest), None)

    @property
    def old(self) -> list[ReplicaSet]:
        """All others, oldest first."""
        new = self.new
        return [rs for rs in self.sets.values() if new is None or rs.key != new.key]

    @property
    def active_old(self) -> list[ReplicaSet]:
        """The old ones that want pods."""
        return [rs for rs in self.old if rs.replicas > 0]

    def total(self) -> int:
        """The pods that all ReplicaSets want together."""
        return sum(rs.replicas for rs in self.sets.values())

    def counted_total(self) -> int:
        """As `total`, but without what this pass has scaled: what the status counts."""
        return sum(rs.replicas for rs in self.counted.values())

    def available(self) -> int:
        """The available pods that all ReplicaSets report together."""
        return sum(rs.status.available for rs in self.sets.values())

    # Writes --------------------------------------------------------------------------------------------------

    def scale(self, rs: ReplicaSet, replicas: int, reason: str) -> bool:
        """Sets a ReplicaSet's size and size annotations; False (and no write) if it has that size."""
        if rs.replicas == replicas:
            return False
        self.resize(rs, replicas, reason)
        return True

    def resize(self, rs: ReplicaSet, replicas: int, reason: str) -> None:
        """As `scale`, and also brings the size annotations up to date where only they differ."""
        desired = self.deployment.replicas
        most = desired + max_surge(self.deployment)
        changed = rs.replicas != replicas
        if not changed and rs.desired_replicas == desired and rs.max_replicas == most:
            return
        after = rs.with_(
            replicas=replicas,
            desired_replicas=desired,
            max_replicas=most,
            generation=rs.generation + changed,
        )
        what = f"scales {rs.reference} from {rs.replicas} to {replicas}" if changed else ""
        self._update(rs, after, reason, what)

    def create_new(self, replicas: int) -> ReplicaSet:
        """Creates the ReplicaSet of the deployment's template; its name and selector carry the template's hash."""
        deployment = self.deployment
        short = deployment.template.digest[:6]
        labels = labels_of({**dict(deployment.template.labels), HASH_LABEL: short})
        selector = deployment.selector
        new = ReplicaSet(
            name=f"{deployment.name}-{short}",
            namespace=deployment.namespace,
            labels=labels,
            owner=deployment.owner_reference(),
            replicas=replicas,
            min_ready=deployment.min_ready,
            selector=Selector(
                labels_of({**dict(selector.match_labels), HASH_LABEL: short}), selector.match_expressions
            ),
            template=deployment.template.with_(labels=labels),
            deployment_revision=self.next_revision(),
            desired_replicas=deployment.replicas,
            max_replicas=deployment.replicas + max_surge(deployment),
            created_at=self.reading.now,
        )
        self.actions.append(Create(new, f"revision {new.deployment_revision}, {replicas} replicas at first"))
        self.sets[new.key] = self.counted[new.key] = new
        return new

    def next_revision(self) -> int:
        """One more than the highest revision of the old ReplicaSets."""
        return max((rs.deployment_revision for rs in self.old), default=0) + 1

    def update_revision(self, rs: ReplicaSet) -> bool:
        """Brings revision and minReadySeconds of the existing new ReplicaSet up to date; False if they are."""
        revision = max(self.next_revision(), rs.deployment_revision)
        if rs.deployment_revision == revision and rs.min_ready == self.deployment.min_ready:
            return False
        self._update(
            rs,
            rs.with_(
                deployment_revision=revision,
                min_ready=self.deployment.min_ready,
                generation=rs.generation + (rs.min_ready != self.deployment.min_ready),
            ),
            "its template is wanted again",
            f"makes {rs.reference} revision {revision}",
        )
        return True

    def delete(self, rs: ReplicaSet) -> None:
        """Deletes an old ReplicaSet of the history."""
        self.actions.append(Delete("ReplicaSet", rs.key, rs.uid, "beyond revisionHistoryLimit"))
        del self.sets[rs.key]

    def write_status(self, status: DeploymentStatus, revision: int | None = None, reason: str = "") -> None:
        """Writes the deployment's status, and its revision annotation if one is given."""
        before = self.deployment
        number = before.deployment_revision if revision is None else revision
        if self.status_written or (number == before.deployment_revision and status == before.status):
            return
        after = before.with_(status=status, deployment_revision=number)
        self.status_written = True
        self.actions.append(Update(before, after, reason))

    def _update(self, before: ReplicaSet, after: ReplicaSet, reason: str, what: str) -> None:
        if any(isinstance(each, (Update, Create)) and _object(each).key == before.key for each in self.actions):
            # A second write in one pass is made of the version that the first one returned.
            self.actions.append(Patch("ReplicaSet", before.key, before.uid, _differences(before, after), reason, what))
        else:
            self.actions.append(Update(before, after, reason, what or f"notes the wanted size on {before.reference}"))
        self.sets[after.key] = after


def _object(action: Update | Create) -> ReplicaSet | Deployment:
    found = action.after if isinstance(action, Update) else action.object
    assert isinstance(found, (ReplicaSet, Deployment))
    return found


def _differences(before: ReplicaSet, after: ReplicaSet) -> tuple[tuple[str, object], ...]:
    names = ("replicas", "desired_replicas", "max_replicas", "generation", "deployment_revision", "min_ready")
    return tuple((name, getattr(after, name)) for name in names if getattr(after, name) != getattr(before, name))


def condition(conditions: tuple[Condition, ...], type_: str) -> Condition | None:
    """The condition of that type, or None."""
    return next((each for each in conditions if each.type == type_), None)
