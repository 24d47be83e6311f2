"""What a service uses, the platform file must state."""

from typing import Any

import pytest

from services_base import findings

LOGIN = ("realm", "realmRef", "issuerURL", "backchannelURL", "namespace", "podLabels", "port")


@pytest.mark.parametrize(
    ("platform", "missing"),
    [
        pytest.param({}, [], id="all-there"),
        *(pytest.param({"identity": {one: None}}, [f"identity.{one}"], id=one) for one in LOGIN),
        pytest.param({"identity": None}, [f"identity.{one}" for one in LOGIN], id="no-identity"),
        pytest.param({"egress": {"vpn": None}}, ["egress.vpn.nodeSelector"], id="no-tunnel"),
    ],
)
def test_a_setting_that_a_service_needs_is_named_with_the_service(
    platform: dict[str, Any], missing: list[str]
) -> None:
    """Without it objects would be rendered with a hole in them."""
    found = [one for one in findings(platform=platform) if one.id == "S-03"]

    assert sorted(missing) == sorted(one.message.split("`")[1] for one in found)
    assert all("qbittorrent uses" in one.message for one in found)


def test_nothing_is_needed_for_what_nobody_uses() -> None:
    """A platform without sign-on and tunnel is whole while no service asks for either."""
    plain = {"auth": {"mode": "none", "groups": None, "redirectPaths": None}, "egress": "internet"}
    changes = {name: plain for name in ("qbittorrent", "wiki")}  # noqa: C420 - each its own

    found = findings(change=changes, platform={"identity": None, "egress": {"vpn": None}})

    assert [] == [one.message for one in found if one.id == "S-03"]
