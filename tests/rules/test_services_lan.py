"""What a definition calls a LAN host must be one by the platform's own word."""

import pytest

from services_base import findings, ids


@pytest.mark.parametrize(
    ("cidr", "found"),
    [
        pytest.param("192.168.1.0/24", [], id="inside"),
        pytest.param("192.168.0.0/16", [], id="all-of-a-range"),
        pytest.param("192.0.0.0/8", ["S-06"], id="wider-than-a-range"),
        pytest.param("8.8.8.0/24", ["S-06"], id="of-the-internet"),
        pytest.param("fd00::/64", ["S-06"], id="of-a-family-without-ranges"),
    ],
)
def test_a_lan_host_lies_inside_what_the_internet_leaves_out(cidr: str, found: list[str]) -> None:
    """Otherwise the field would open the internet to a service without that egress class."""
    lan = [{"cidr": cidr, "port": 1883}]

    seen = findings(change={"gitea": {"lanEgress": lan}})

    assert found == ids(tuple(one for one in seen if one.id.startswith("S-")), "gitea")
