# Copyright Skerry contributors
# Apache License, Version 2.0
# SPDX-License-Identifier: Apache-2.0
"""The network cards of a VM: as options, as the cloud writes them, and their comparison."""

from __future__ import annotations

NETWORKS = {
    "type": "list",
    "elements": "dict",
    "options": {
        "name": {"type": "str", "required": True},
        "address": {"type": "str"},
        "mode": {"type": "str", "choices": ["POOL", "DHCP", "MANUAL", "NONE"]},
        "connected": {"type": "bool", "default": True},
    },
}


def cards_in(document):
    section = document.get("networkConnectionSection") or {}
    cards = sorted(section.get("networkConnection", []), key=lambda each: each.get("networkConnectionIndex", 0))
    return [
        {
            "name": each["network"],
            "address": each.get("ipAddress"),
            "mode": each.get("ipAddressAllocationMode"),
            "connected": each.get("isConnected", True),
            "mac": each.get("macAddress"),
        }
        for each in cards
    ]


def planned_cards(wanted):
    return [{**each, "mode": mode_of(each), "mac": None} for each in wanted or []]


def mode_of(card):
    if card.get("mode"):
        return card["mode"]
    return "MANUAL" if card.get("address") else "POOL"


def connections_of(wanted):
    return [
        {
            "network": each["name"],
            "networkConnectionIndex": index,
            "ipAddressAllocationMode": mode_of(each),
            "isConnected": each["connected"],
            **({"ipAddress": each["address"]} if each.get("address") else {}),
        }
        for index, each in enumerate(wanted)
    ]


def same_places(wanted, cards):
    """Whether the cards are on these networks with these addresses. What an option does not name may be anything."""
    if len(wanted) != len(cards):
        return False
    return all(
        card["name"] == each["name"]
        and (not each.get("address") or card["address"] == each["address"])
        and (not each.get("mode") or card["mode"] == each["mode"])
        for each, card in zip(wanted, cards)
    )


def same_cards(wanted, cards):
    connected = all(card["connected"] == each["connected"] for each, card in zip(wanted, cards))
    return same_places(wanted, cards) and connected
