"""Our own tables of the networks that outgoing requests never reach, or only if the operator lists the host (L8).

``ipaddress.is_global`` is not sufficient: on Python 3.11 it calls 192.0.0.192, 2002:a9fe:a9fe::, 64:ff9b::a9fe:a9fe and
fec0::1 global, and it knows no cloud. The rows follow the IANA registries of special-purpose addresses.
"""

from collections.abc import Iterable, Iterator, Mapping
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network
from typing import Final

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network


def _table(rows: Mapping[str, str]) -> Mapping[Network, str]:
    return {ip_network(network): use for network, use in rows.items()}


# Networks that are contacted only if the operator lists the host.
NOT_PUBLIC: Final = _table(
    {
        "0.0.0.0/8": "this network",
        "10.0.0.0/8": "private",
        "100.64.0.0/10": "shared by customers of a provider",
        "127.0.0.0/8": "loopback",
        "172.16.0.0/12": "private",
        "192.0.0.0/24": "protocol assignments",
        "192.0.2.0/24": "documentation",
        "192.88.99.0/24": "6to4 relays, abolished",
        "192.168.0.0/16": "private",
        "198.18.0.0/15": "benchmarks",
        "198.51.100.0/24": "documentation",
        "203.0.113.0/24": "documentation",
        "224.0.0.0/4": "multicast",
        "240.0.0.0/4": "reserved, and broadcast",
        "100::/64": "discarded",
        "100:0:0:1::/64": "a dummy",
        "2001::/23": "protocol assignments",
        "2001:db8::/32": "documentation",
        "3fff::/20": "documentation",
        "5f00::/16": "segment routing",
        "fc00::/7": "private",
        "fec0::/10": "private (site-local, abolished)",
        "ff00::/8": "multicast",
    }
)

# The same for networks whose addresses contain an IPv4 address, whichever it is.
HOLDING_IPV4: Final = _table(
    {
        "::/96": "compatible; with it, unspecified and loopback",
        "::ffff:0:0/96": "mapped",
        "::ffff:0:0:0/96": "translated",
        "64:ff9b::/96": "NAT64",
        "64:ff9b:1::/48": "NAT64 with a prefix of the network's own",
        "2001::/32": "Teredo",
        "2002::/16": "6to4",
    }
)

# Networks that are never contacted, not even if the operator lists the host: link-local ones, and services that hand
# out the credentials of a machine.
FORBIDDEN: Final = _table(
    {
        "169.254.0.0/16": "link-local",
        "169.254.169.254/32": "metadata of most clouds",
        "169.254.170.2/32": "metadata of AWS",
        "169.254.170.23/32": "metadata of AWS",
        "fe80::/10": "link-local",
        "100.100.100.200/32": "metadata of Alibaba Cloud",
        "168.63.129.16/32": "metadata of Azure",
        "192.0.0.192/32": "metadata of Oracle Cloud",
        "fd00:42::42/128": "metadata of Scaleway",
        "fd00:ec2::/32": "metadata of AWS",
        "fd20:ce::254/128": "metadata of Google Cloud",
    }
)

_METADATA: Final = frozenset(network for network in FORBIDDEN if network.prefixlen == network.max_prefixlen)

# The addresses that were assigned for global unicast; the others are reserved.
_GLOBAL_UNICAST: Final = IPv6Network("2000::/3")

_ISATAP: Final = (b"\x00\x00\x5e\xfe", b"\x02\x00\x5e\xfe")  # RFC 5214, in the bytes 8 to 11
_TEREDO: Final = IPv6Network("2001::/32")

# The bytes of an IPv4 address within an IPv6 address: at the end; in 6to4 (RFC 3056); and in NAT64 with prefixes of 32,
# 40, 48, 56 and 64 bits (RFC 6052), which skip byte 8.
_PLACES: Final = (
    (12, 13, 14, 15),
    (2, 3, 4, 5),
    (4, 5, 6, 7),
    (5, 6, 7, 9),
    (6, 7, 9, 10),
    (7, 9, 10, 11),
    (9, 10, 11, 12),
)


def is_public(address: Address) -> bool:
    """Return whether an address is globally reachable, so that any host may have it."""
    if is_forbidden(address) or _is_in(NOT_PUBLIC, address) or _holds_ipv4(address):
        return False
    return isinstance(address, IPv4Address) or address in _GLOBAL_UNICAST


def is_forbidden(address: Address) -> bool:
    """Return whether no host may have an address, not even one that the operator lists."""
    if _is_in(FORBIDDEN, address):
        return True
    if isinstance(address, IPv4Address):
        return False
    # A network may use any of its own prefixes for NAT64. Outside the known ones, only single addresses are compared,
    # which no other address contains by chance.
    refused = FORBIDDEN if _holds_ipv4(address) else _METADATA
    return address.scope_id is not None or any(_is_in(refused, ipv4) for ipv4 in _embedded(address))


def _is_in(networks: Iterable[Network], address: Address) -> bool:
    return any(address in network for network in networks)


def _holds_ipv4(address: Address) -> bool:
    return _is_in(HOLDING_IPV4, address) or (address.version == 6 and address.packed[8:12] in _ISATAP)


def _embedded(address: IPv6Address) -> Iterator[IPv4Address]:
    """Yield every IPv4 address that an IPv6 address may stand for."""
    packed = address.packed
    for place in _PLACES:
        yield IPv4Address(bytes(packed[byte] for byte in place))
    if address in _TEREDO:
        yield IPv4Address(bytes(byte ^ 0xFF for byte in packed[12:]))  # inverted (RFC 4380)
