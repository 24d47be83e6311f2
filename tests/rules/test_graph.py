"""Paths from hosts to pods: what is drawn, what is broken, and that drawings keep their form."""

import re
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roadstead.capabilities.attachments.snapshot import SERVICES, SLICES
from roadstead.capabilities.gateways import api
from roadstead.capabilities.gateways.snapshot.views import HTTP_ROUTES, TLS_ROUTES
from roadstead.decision import Decision
from roadstead.engine.reader import PassReader
from roadstead.engine.store import State, Store
from roadstead.explain.graph import COLUMNS, Choice, Graph, Spot, chosen, drawn, reported
from roadstead.explain.graph import Path as Way
from roadstead.explain.graph.model import KINDS
from roadstead.explain.graph.page import page
from roadstead.explain.graph.svg import HEIGHT, laid_out, placed, svg
from roadstead.explain.graph.texts import ASCII, UNICODE, dot, mermaid, tree
from roadstead.explain.world import Played
from roadstead.kube.objects import Object
from roadstead.kube.refs import ENDPOINT_SLICE, SERVICE, Ref
from roadstead.kube.views import View
from roadstead.settings import Settings
from roadstead.sim.ours import Ours
from roadstead.sim.requests import By
from roadstead.sim.settle import drive
from route_objects import FIRST as FIRST_BODY
from route_objects import KEY, OTHER, ROUTE, SHOP, SPACE, WEB, body, gateway, namespace, route
from stories import NOW, Body, Story, settle

CLASS = ("gateway-class", "certificates")
SERVED = body(api.GATEWAY_CLASS, "cilium", spec={"controllerName": "io.cilium/gateway-controller"})
HERE = (namespace(SPACE), namespace(OTHER), SERVED)
SHOPS = (*HERE, namespace("cozy-shop"), gateway(), FIRST_BODY)
BACKEND = body(SERVICE, "web", OTHER, spec={"selector": {"app": "web"}, "ports": [{"port": 80}]})
FIRST = FIRST_BODY["metadata"]["name"]


def slices(*ready: bool) -> Body:
    """The slice of the backend, with a pod for each word."""
    pods = [
        {"addresses": [f"10.0.0.{at}"], "conditions": {"ready": one}}
        for at, one in enumerate(ready)
    ]
    made = body(ENDPOINT_SLICE, "web-1", OTHER, addressType="IPv4", endpoints=pods)
    meta = {**made["metadata"], "labels": {"kubernetes.io/service-name": "web"}}
    return {**made, "metadata": meta}


def play(folder: Path, *world: Body, stand_ins: tuple[str, ...] = CLASS) -> Played:
    """A settled world in which a class serves what is asked of it."""
    return settle(Story("", "", KEY, world, stand_ins=stand_ins), folder)


def drawing(played: Played) -> Graph:
    """What is drawn of it."""
    found, whole = drive(drawn(played.reader(), played.judge))
    assert whole
    return found


def lines(graph: Graph) -> list[str]:
    """Each path as texts, its breaks marked."""
    found = []
    for path in graph.paths:
        breaks = dict(path.breaks)
        parts = []
        for at, spot in path.steps:
            parts.append(spot.text + (f" !{breaks[at]}" if at in breaks else ""))
        found.append(" > ".join(parts))
    return found


def test_a_route_is_drawn_from_its_hostname_to_its_pods(tmp_path: Path) -> None:
    """The five columns, and how many pods are ready."""
    played = play(tmp_path, *HERE, gateway(), route(WEB), BACKEND, slices(True, True, False))
    assert lines(drawing(played)) == [
        f"{WEB} > https-web-7ee8dff6 :443 > HTTPRoute web > Service web > 2/3 pods"
    ]
    assert not drawing(played).broken


@pytest.mark.parametrize(
    ("world", "end"),
    [
        ((BACKEND, slices(False)), "HTTPRoute web > Service web !no pod is ready > 0/1 pods"),
        ((BACKEND,), "HTTPRoute web > Service web > pods unknown"),
        ((), "HTTPRoute web !no such Service > Service web"),
    ],
    ids=["not-ready", "nobody-has-counted", "absent"],
)
def test_what_stands_behind_a_route_is_a_fact(
    world: tuple[Body, ...], end: str, tmp_path: Path
) -> None:
    """What is not there breaks the path; what is not known breaks nothing."""
    found = drawing(play(tmp_path, *HERE, gateway(), route(WEB), *world))
    assert lines(found)[0].endswith(end)
    assert found.broken is ("!" in end)


def test_a_refused_route_is_drawn_to_the_listener_it_asks_for(tmp_path: Path) -> None:
    """Beside the one that holds the name, with the decision's own word, and no further."""
    found = drawing(play(tmp_path, *SHOPS, route(SHOP, WEB), BACKEND))
    refused = [edge for edge in found.edges if edge.refused == "HostnameConflict"]
    assert [("https-shop-e6f18791 :443", ROUTE)] == [
        (edge.start.text, edge.end.about) for edge in refused
    ]
    assert {edge.end.about for edge in found.edges if edge.start == refused[0].start} == {
        ROUTE,
        Ref("cozy-shop", ROUTE.kind, FIRST),
    }
    assert f"{SHOP} > https-shop-e6f18791 :443 !HostnameConflict > HTTPRoute web" in lines(found)


def test_a_gateway_that_serves_nobody_breaks_every_path_through_it(tmp_path: Path) -> None:
    """Its own stop stands between the host and the listener."""
    found = drawing(play(tmp_path, *HERE, gateway(), route(WEB), BACKEND, stand_ins=()))
    assert lines(found)[0].startswith(f"{WEB} !GatewayNotAccepted > https-web-7ee8dff6")


def test_a_route_from_outside_is_drawn_in_vain(tmp_path: Path) -> None:
    """Nothing is said of it, and that is what is shown."""
    world = (HERE[0], HERE[2], namespace(OTHER, ""), gateway(), route(WEB))
    assert lines(drawing(play(tmp_path, *world))) == [f"{WEB} !Unjudged > HTTPRoute web"]


def only(view: View, *objects: Object) -> Store:
    """A store that holds these."""
    store = Store(view)
    store.begin_list()
    assert len([*store.add_page(objects), *store.end_list("1")]) == len(objects)
    return store


def test_who_may_read_little_is_shown_what_is_hidden(tmp_path: Path) -> None:
    """The own route with the word of its status; its Gateway as one that may not be read."""
    played = play(tmp_path, *SHOPS, route(SHOP, WEB), BACKEND)
    mine = played.world.store.get(ROUTE)
    assert mine is not None
    stores = {HTTP_ROUTES: only(HTTP_ROUTES, mine)}
    for view in (*TLS_ROUTES, *(v for v in played.settler.engine.stores if v not in stores)):
        stores[view] = Store(view)
        stores[view].lose(State.FORBIDDEN)
    stores[SERVICES] = only(SERVICES)
    reader = PassReader(Ours(played.world), stores, Settings(), NOW)

    async def judge(_key: Ref) -> Decision | None:
        raise AssertionError("nothing is judged")

    found = drive(reported(reader, judge))
    assert lines(found)[0].endswith("cozystack !HostnameConflict > HTTPRoute web")
    assert {"Gateway tenant-foo/cozystack"} == {one.text for one in found.columns[1] if one.unread}
    assert "cozy-shop" not in str(found)
    assert any("attachments are not drawn" in note for note in found.notes)
    _, whole = drive(drawn(reader, judge))
    assert not whole


def test_the_choice_of_a_namespace_keeps_who_asks_for_its_names(tmp_path: Path) -> None:
    """A holder sees who waits for its hostname; the rest is left out."""
    found = drawing(play(tmp_path, *SHOPS, route(SHOP, WEB), BACKEND))
    mine = chosen(found, Choice("cozy-shop"))
    assert {"cozy-shop", OTHER} == {path.namespace for path in mine.paths}
    assert all(SHOP in line for line in lines(mine))
    assert [WEB] == [one.text for one in chosen(found, Choice(host=WEB)).columns[0]]
    assert all(path.breaks for path in chosen(found, Choice(problems=True)).paths)


def test_a_wildcard_leads_to_the_names_beneath_it() -> None:
    """Whoever asks for a hostname is shown what answers it."""
    host = Spot("host", "host:*.db.example.org", "*.db.example.org")
    way = Way((host, None, None, None, None), "a")
    graph = Graph((way,))
    assert chosen(graph, Choice(host="pg.db.example.org")).paths
    assert not chosen(graph, Choice(host="db.example.org")).paths


def test_paths_through_the_same_boxes_stand_by_their_namespaces() -> None:
    """Two tenants' routes of one name that nothing else tells apart."""
    host = Spot("host", "host:db.example.org", "db.example.org")
    ways = tuple(Way((host, None, None, None, None), namespace) for namespace in ("b", "a"))

    assert ["a", "b"] == [path.namespace for path in Graph.of(ways).paths]


# drawings keep their form, whatever they hold

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Any paths, of boxes with any texts."""
    pool: list[list[Spot]] = []
    for kinds in (("host", "address"), ("listener",), ("route", "attachment"), ("service",)):
        texts = draw(st.lists(TEXTS, min_size=1, max_size=3, unique=True))
        pool.append([Spot(kinds[-1], f"{kinds[-1]}:{text}", text, draw(TEXTS)) for text in texts])
    pods = [Spot("pods", "pods:a", "1/1 pods"), Spot("pods", "pods:b", "pods unknown", unread=True)]
    columns = [st.none() | st.sampled_from(column) for column in (*pool, pods)]
    ways = st.builds(
        Way,
        st.tuples(*columns).filter(any),
        TEXTS,
        st.lists(st.tuples(st.integers(0, 3), TEXTS), max_size=2).map(tuple),
    )
    return Graph.of(tuple(draw(st.lists(ways, max_size=6))))


@given(graphs())
def test_no_box_stands_over_another(graph: Graph) -> None:
    """And every box that a path goes through is drawn once."""
    boxes = laid_out(graph, placed(graph))
    assert set(boxes) == {spot.key for path in graph.paths for _, spot in path.steps}
    for column in graph.columns:
        tops = sorted(boxes[spot.key].y for spot in column)
        assert all(below - above >= HEIGHT for above, below in pairwise(tops))


@given(graphs())
def test_any_text_leaves_a_drawing_well_formed(graph: Graph) -> None:
    """A name from a file may hold anything; it stays a text."""
    root = ET.fromstring(svg(graph))  # noqa: S314 - our own output
    known = {"svg", "title", "text", "g", "rect", "path"}
    assert {one.tag.rpartition("}")[2] for one in root.iter()} <= known
    assert page(graph).count("<script>") == 1
    assert not re.search(r" on\w+=|javascript:", str(svg(graph)).split("</title>")[1]) or any(
        "on" in spot.text or "on" in spot.place for column in graph.columns for spot in column
    )


@given(graphs())
def test_every_form_draws_the_same_lines(graph: Graph) -> None:
    """One line an edge, one box a spot; a refusal is told in words everywhere."""
    edges = len(graph.edges)
    drawn_lines = list(mermaid(graph))
    assert sum(" --> " in line or " .-> " in line for line in drawn_lines) == edges
    dotted = [line for line in dot(graph) if re.match(r"  [a-z]\d+ -> ", line)]
    assert len(dotted) == edges
    assert sum("style=dashed" in line for line in dotted) == sum(
        bool(edge.refused) for edge in graph.edges
    )
    for twigs in (UNICODE, ASCII):
        refused = [one.refused for one in tree(graph, twigs) if one.refused]
        assert set(refused) == {edge.refused for edge in graph.edges if edge.refused}


@given(graphs())
def test_the_order_of_what_is_read_changes_nothing(graph: Graph) -> None:
    """The same paths make the same drawing."""
    other = Graph.of(tuple(reversed(graph.paths)))
    assert other.paths == graph.paths
    assert len(COLUMNS) == len(graph.columns)
    assert {spot.kind for column in graph.columns for spot in column} <= set(KINDS)


def test_a_service_is_looked_for_where_it_may_be_read(tmp_path: Path) -> None:
    """Pods follow as they become ready."""
    played = play(tmp_path, *HERE, gateway(), route(WEB), BACKEND, slices(False))
    assert drawing(played).broken
    ref = ENDPOINT_SLICE.ref(OTHER, "web-1")
    ready = {"endpoints": [{"addresses": ["10.0.0.0"], "conditions": {"ready": True}}]}
    played.world.merge(ref, ready, By.OTHER)
    played.settler.settle()
    assert SLICES in played.settler.engine.stores
    assert "1/1 pods" in lines(drawing(played))[0]
