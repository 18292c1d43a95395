"""One zone of three is lost, with three of nine nodes."""

from __future__ import annotations

from typing import Any

NINE = "9x2cpu,8Gi@a,b,c"
ONE_PER_NODE = {"deployment/web": [f"n-{number}" for number in range(1, 10)]}
ONE_PER_ZONE = {"deployment/web": ["n-1", "n-2", "n-3"]}
IN_A = ("n-1", "n-4", "n-7")


def spread(**fields: str) -> dict[str, Any]:
    """A hard spread over zones."""
    selector = {"matchLabels": {"app": "web"}}
    constraint = {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "labelSelector": selector, **fields}
    return {"topologySpreadConstraints": [{"whenUnsatisfiable": "DoNotSchedule", **constraint}]}


def test_its_nodes_are_tainted_ten_seconds_apart_and_their_pods_go_300_s_later(make: Any, story: Any) -> None:
    shop = story(make.deployment(9), nodes=NINE, placement=ONE_PER_NODE).strike("zone_outage", zone="a").rest()
    shop.shows("""
        50 node-lifecycle taints node/n-1 node.kubernetes.io/unreachable:NoExecute
        60 node-lifecycle taints node/n-4 node.kubernetes.io/unreachable:NoExecute
        70 node-lifecycle taints node/n-7 node.kubernetes.io/unreachable:NoExecute
    """)
    assert shop.times("node-lifecycle", "sets Ready=False of pod") == [50, 50, 50], shop.told
    assert shop.times("node-lifecycle", ":NoSchedule") == [50, 50, 50], shop.told
    assert shop.times("taint-eviction", "deletes") == [350, 360, 370], shop.told
    assert shop.times("replicaset", "creates") == [350, 360, 370], shop.told
    assert shop.times("scheduler", "binds") == [350, 360, 370], shop.told
    assert not {pod.node for pod in shop.pods() if pod.ready} & set(IN_A), shop.told


def test_without_room_in_the_other_zones_the_replacements_wait(make: Any, story: Any) -> None:
    shop = story(make.deployment(9, cpu="1500m"), nodes=NINE, placement=ONE_PER_NODE)
    shop.strike("zone_outage", zone="a").rest()
    assert shop.times("replicaset", "creates") == [350, 360, 370], shop.told
    shop.never("scheduler", "binds")
    assert len(shop.names(lambda pod: pod.node is None)) == 3, shop.told


def test_where_the_instances_are_gone_too_it_is_faster(make: Any, story: Any) -> None:
    """All Nodes are deleted at once; no rate limits the garbage collector of pods."""
    shop = story(make.deployment(9), nodes=NINE, placement=ONE_PER_NODE)
    for node in IN_A:
        shop.strike("instance_terminated", node=node)
    shop.rest()
    assert shop.times("cloud-node", "deletes node") == [50, 50, 50], shop.told
    assert shop.times("pod-gc", "force-deletes") == [100, 100, 100], shop.told
    assert len(shop.names(lambda pod: pod.ready)) == 9, shop.told


def test_an_autoscaler_adds_nodes_in_the_other_zones(make: Any, story: Any, pool: Any) -> None:
    shop = story(make.deployment(3, cpu="900m"), nodePools=[pool("3x1cpu,8Gi@a,b,c", min=3, max=6)])
    shop.strike("zone_outage", zone="a").until(1000)
    shop.shows("""
        350 replicaset creates pod/web-1-d
        350 scheduler leaves pod/web-1-d pending
        360 cluster-autoscaler sets the desired size of n to 4
        360 node-group launches an instance of n in zone b
        480 scheduler binds pod/web-1-d to n-4
    """)


def test_at_its_maximum_it_adds_none(make: Any, story: Any, pool: Any) -> None:
    shop = story(make.deployment(3, cpu="900m"), nodePools=[pool("3x1cpu,8Gi@a,b,c", min=2, max=3)])
    shop.strike("zone_outage", zone="a").until(1000)
    shop.never("cluster-autoscaler", "desired size")
    assert shop.names(lambda pod: pod.node is None) == ["web-1-d"], shop.told


def test_a_group_that_replaces_dead_machines_is_faster_still(make: Any, story: Any, pool: Any) -> None:
    """Its new instance boots in another zone while the Node of the dead one is still waited for."""
    group = pool("3x1cpu,8Gi@a,b,c", min=3, max=6, replacesDead=True)
    shop = story(make.deployment(3, cpu="900m"), nodePools=[group]).strike("zone_outage", zone="a").until(1000)
    shop.shows("""
        0 node-group terminates instance n-1 (its machine is dead)
        0 node-group launches an instance of n in zone b
        50 cloud-node deletes node/n-1
        90 pod-gc force-deletes pod/web-1-a
        90 replicaset creates pod/web-1-d
        120 node-group has booted instance n-4
        120 scheduler binds pod/web-1-d to n-4
    """)


def test_the_lost_zone_is_still_a_domain_of_a_hard_spread_until_its_nodes_are_deleted(make: Any, story: Any) -> None:
    shop = story(make.deployment(3, pod=spread()), nodes=NINE, placement=ONE_PER_ZONE)
    shop.strike("zone_outage", zone="a").until(3000)
    assert shop.times("replicaset", "creates") == [350], shop.told
    shop.never("scheduler", "binds")
    assert "6 node(s) didn't match pod topology spread constraints" in shop.pod("web-1-d").unscheduled[1], shop.told
    for node in IN_A:
        shop.strike("node_delete", node=node)
    shop.rest()
    assert shop.times("scheduler", "binds") == [3000], shop.told
    assert len(shop.names(lambda pod: pod.ready)) == 3, shop.told


def test_one_node_object_that_is_left_is_enough_to_hold_it_up(make: Any, story: Any) -> None:
    shop = story(make.deployment(3, pod=spread()), nodes=NINE, placement=ONE_PER_ZONE)
    shop.strike("zone_outage", zone="a").until(400)
    shop.strike("node_delete", node="n-1").strike("node_delete", node="n-4").rest()
    shop.never("scheduler", "binds")


def test_a_spread_that_honours_taints_does_not_count_it(make: Any, story: Any) -> None:
    shop = story(make.deployment(3, pod=spread(nodeTaintsPolicy="Honor")), nodes=NINE, placement=ONE_PER_ZONE)
    shop.strike("zone_outage", zone="a").rest()
    shop.shows("350 replicaset creates pod/web-1-d\n 350 scheduler binds pod/web-1-d to n-5")


def test_pods_with_a_disk_in_it_wait_for_it_to_return(make: Any, story: Any, zonal: Any) -> None:
    placed = {"statefulset/db": ["n-1", "n-2", "n-3"]}
    database = story(zonal.disk, make.stateful(3, **zonal.claims), nodes=NINE, placement=placed)
    for node in IN_A:
        database.strike("instance_terminated", node=node)
    database.until(5000)
    database.shows("""
        50 cloud-node deletes node/n-1
        100 pod-gc force-deletes pod/db-0
        100 statefulset creates pod/db-0
        100 scheduler leaves pod/db-0 pending
    """)
    database.never("scheduler", "binds")
    assert "6 node(s) didn't match PersistentVolume's node affinity" in database.pod("db-0").unscheduled[1], (
        database.told
    )


def test_with_the_zone_such_a_pod_is_back(make: Any, story: Any, zonal: Any) -> None:
    """Deleted while the zone was down, it stays Terminating; its kubelet confirms, and it is made again in the zone."""
    placed = {"statefulset/db": ["n-1", "n-2", "n-3"]}
    database = story(zonal.disk, make.stateful(3, **zonal.claims), nodes=NINE, placement=placed)
    database.strike("zone_outage", zone="a").until(5000).strike("zone_recover", zone="a").rest()
    assert database.times("statefulset", "creates") == [5000], database.told
    assert database.pod("db-0").ready
    assert database.node(database.pod("db-0").node).zone == "a"
