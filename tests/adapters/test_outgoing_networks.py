"""The networks that outgoing requests never reach, or only with ``outgoing_hosts`` (contract L8)."""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logoadmin.adapters.httpcore_outgoing.networks import FORBIDDEN, HOLDING_IPV4, NOT_PUBLIC, is_forbidden, is_public

pytestmark = pytest.mark.rule("contract L8")

# Written by hand, so that table and test cannot be wrong together: the first and last address of each network, and
# the public addresses just outside, if there are any.
LISTED = {
    "0.0.0.0/8": ("0.0.0.0", "0.255.255.255", "1.0.0.0"),
    "10.0.0.0/8": ("10.0.0.0", "10.255.255.255", "9.255.255.255", "11.0.0.0"),
    "100.64.0.0/10": ("100.64.0.0", "100.127.255.255", "100.63.255.255", "100.128.0.0"),
    "127.0.0.0/8": ("127.0.0.0", "127.255.255.255", "126.255.255.255", "128.0.0.0"),
    "172.16.0.0/12": ("172.16.0.0", "172.31.255.255", "172.15.255.255", "172.32.0.0"),
    "192.0.0.0/24": ("192.0.0.0", "192.0.0.255", "191.255.255.255", "192.0.1.0"),
    "192.0.2.0/24": ("192.0.2.0", "192.0.2.255", "192.0.1.255", "192.0.3.0"),
    "192.88.99.0/24": ("192.88.99.0", "192.88.99.255", "192.88.98.255", "192.88.100.0"),
    "192.168.0.0/16": ("192.168.0.0", "192.168.255.255", "192.167.255.255", "192.169.0.0"),
    "198.18.0.0/15": ("198.18.0.0", "198.19.255.255", "198.17.255.255", "198.20.0.0"),
    "198.51.100.0/24": ("198.51.100.0", "198.51.100.255", "198.51.99.255", "198.51.101.0"),
    "203.0.113.0/24": ("203.0.113.0", "203.0.113.255", "203.0.112.255", "203.0.114.0"),
    "224.0.0.0/4": ("224.0.0.0", "239.255.255.255", "223.255.255.255"),
    "240.0.0.0/4": ("240.0.0.0", "255.255.255.255"),
    "100::/64": ("100::", "100::ffff:ffff:ffff:ffff"),
    "100:0:0:1::/64": ("100:0:0:1::", "100:0:0:1:ffff:ffff:ffff:ffff"),
    "2001::/23": ("2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:200::1"),
    "2001:db8::/32": ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db7:ffff::", "2001:db9::"),
    "3fff::/20": ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "3ffe::1", "3fff:1000::1"),
    "5f00::/16": ("5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
    "fc00::/7": ("fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
    "fec0::/10": ("fec0::1", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
    "ff00::/8": ("ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
    "::/96": ("::", "::ffff:ffff"),
    "::ffff:0:0/96": ("::ffff:0:0", "::ffff:255.255.255.255"),
    "::ffff:0:0:0/96": ("::ffff:0:0:0", "::ffff:0:255.255.255.255"),
    "64:ff9b::/96": ("64:ff9b::", "64:ff9b::255.255.255.255"),
    "64:ff9b:1::/48": ("64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff"),
    "2001::/32": ("2001::", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff"),
    "2002::/16": ("2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2003::1"),
}
NEVER = {
    "169.254.0.0/16": ("169.254.0.0", "169.254.255.255", "169.253.255.255", "169.255.0.0"),
    "169.254.169.254/32": ("169.254.169.254",),
    "169.254.170.2/32": ("169.254.170.2",),
    "169.254.170.23/32": ("169.254.170.23",),
    "fe80::/10": ("fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
    "100.100.100.200/32": ("100.100.100.200",),
    "168.63.129.16/32": ("168.63.129.16", "168.63.129.15", "168.63.129.17"),
    "192.0.0.192/32": ("192.0.0.192",),
    "fd00:42::42/128": ("fd00:42::42",),
    "fd00:ec2::/32": ("fd00:ec2::", "fd00:ec2::254", "fd00:ec2:ffff:ffff:ffff:ffff:ffff:ffff"),
    "fd20:ce::254/128": ("fd20:ce::254",),
}


@pytest.mark.parametrize(("network", "addresses"), [*LISTED.items(), *NEVER.items()])
def test_each_network_is_not_public_and_its_neighbours_are(network: str, addresses: tuple[str, ...]) -> None:
    for address in map(ip_address, addresses):
        assert is_public(address) is (address not in ip_network(network)), address


@pytest.mark.parametrize(("network", "addresses"), [*NEVER.items()])
def test_link_local_and_metadata_are_forbidden(network: str, addresses: tuple[str, ...]) -> None:
    for address in map(ip_address, addresses):
        assert is_forbidden(address) is (address in ip_network(network)), address


def test_the_other_networks_can_be_allowed() -> None:
    for address in (ip_address(addresses[0]) for addresses in LISTED.values()):
        assert not is_forbidden(address), address


def test_every_row_of_the_tables_has_a_test() -> None:
    assert {*NOT_PUBLIC, *HOLDING_IPV4} == {*map(ip_network, LISTED)}
    assert {*FORBIDDEN} == {*map(ip_network, NEVER)}
    assert sum(network.version == 4 for network in NOT_PUBLIC) == 14
    assert sum(network.version == 6 for network in (*NOT_PUBLIC, *HOLDING_IPV4)) == 16


@pytest.mark.parametrize("address", ["192.0.0.192", "2002:a9fe:a9fe::", "64:ff9b::a9fe:a9fe", "fec0::1"])
def test_addresses_that_the_standard_library_wrongly_considers_public(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.parametrize(
    "address",
    [
        "::169.254.169.254",
        "::ffff:169.254.169.254",
        "::ffff:0:169.254.169.254",
        "64:ff9b::169.254.1.1",
        "64:ff9b:1::169.254.169.254",
        "64:ff9b:1:a9fe:a9:fe00::",  # with a prefix of 48 bits
        "2002:a9fe:a9fe::1",
        "2001:0:4136:e378:8000:63bf:5601:5601",  # Teredo inverts 169.254.169.254
        "2600:1f18::5efe:a9fe:1",  # ISATAP
        "2600:1f18::200:5efe:a83f:8110",
        "2600:1f18:0:0:0:0:a9fe:a9fe",  # NAT64 with a prefix of the network's own, of 96 bits
        "2600:1f18:a9fe:a9fe::",  # 32
        "2600:1f18:64:6464:c8::",  # 56, for 100.100.100.200, as 40 is below
        "2600:1f18:a8:3f81:10::",
        "fd12:3456:789a:1:a8:3f81:1000:0",  # 64
        "fe80::1%2",
        "2600::1%2",
    ],
)
def test_no_wrapping_of_forbidden_addresses_can_be_allowed(address: str) -> None:
    assert is_forbidden(ip_address(address))
    assert not is_public(ip_address(address))


@pytest.mark.parametrize("address", ["2600:1f18::5efe:808:808", "2600:1f18::200:5efe:808:808"])
def test_isatap_is_not_public(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.parametrize(
    "address",
    [
        *("1.1.1.1", "8.8.8.8", "93.184.216.34", "223.255.255.255", "2001:4860:4860::8888", "2606:4700::1111"),
        "2a00::1",
        *("2600:1f18:a9fe:1::1", "2600:1f18::a9fe:1"),  # by chance
    ],
)
def test_other_addresses_are_public(address: str) -> None:
    assert is_public(ip_address(address))


@given(st.ip_addresses())
def test_addresses_that_the_standard_library_refuses_are_not_public(address: IPv4Address | IPv6Address) -> None:
    assert not is_public(address) or address.is_global


@given(st.ip_addresses(v=6))
def test_addresses_outside_of_global_unicast_are_not_public(address: IPv4Address | IPv6Address) -> None:
    assert not is_public(address) or int(address) >> 125 == 1
