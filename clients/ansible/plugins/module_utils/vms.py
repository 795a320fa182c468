# Copyright Skerry contributors
# Apache License, Version 2.0
# SPDX-License-Identifier: Apache-2.0
"""VMs and vApps as the cloud shows them, and as a request creates them."""

from __future__ import annotations

from ansible_collections.skerry.cloud.plugins.module_utils.cards import cards_in, connections_of
from ansible_collections.skerry.cloud.plugins.module_utils.client import CloudError, id_of, link
from ansible_collections.skerry.cloud.plugins.module_utils.metadata import read_metadata

STATUSES = {
    -1: "FAILED_CREATION",
    0: "UNRESOLVED",
    1: "RESOLVED",
    3: "SUSPENDED",
    4: "POWERED_ON",
    6: "UNKNOWN",
    8: "POWERED_OFF",
    9: "LOST",
    10: "MIXED",
}
# CIM resource types.
SIZES = {3: "cpus", 4: "memory", 17: "disk"}

# What only a new VM takes, because the guest reads it at its first start.
GUEST_OPTIONS = {
    "computer_name": {"type": "str"},
    "ssh_keys": {"type": "list", "elements": "str", "no_log": False},
    "user_data": {"type": "str", "no_log": True},
}


def find_vm(cloud, name, vapp=None):
    """The VM, once the tasks of others on it have ended; None if there is none."""
    conditions = {"name": name} if vapp is None else {"name": name, "containerName": vapp}
    records = cloud.query("vm", conditions)
    if len(records) > 1:
        vapps = ", ".join(sorted(each["containerName"] for each in records))
        raise CloudError("%d VMs are called %s: name one of their vApps with vapp: %s" % (len(records), name, vapps))
    if not records:
        return None
    document = settled(cloud, records[0]["href"])
    return None if document is None else vm_of(cloud, document, records[0]["containerName"])


def find_vapp(cloud, name):
    records = cloud.query("vApp", {"name": name})
    document = settled(cloud, records[0]["href"]) if records else None
    return None if document is None else vapp_of(cloud, document)


def settled(cloud, href):
    """The document without open tasks; None if one of them deleted it. A VM that is being created has the task of its vApp."""
    document = cloud.find(href)
    vapp = link(document, "up", "vApp+") if document is not None else None
    for each in (document, cloud.find(vapp) if vapp is not None else None):
        cloud.settle(each)
    return cloud.find(href)


def vm_of(cloud, document, vapp):
    items = document["virtualHardwareSection"]["item"]
    sizes = {SIZES[each["resourceType"]]: each["virtualQuantity"] for each in items if each["resourceType"] in SIZES}
    cards = cards_in(document)
    return {
        "id": id_of(document["href"]),
        "href": document["href"],
        "name": document["name"],
        "vapp": vapp,
        "vapp_href": link(document, "up", "vApp+"),
        "status": STATUSES[document["status"]],
        **sizes,
        "networks": cards,
        "address": next((each["address"] for each in cards if each["address"]), None),
        "metadata": read_metadata(cloud, document["href"]),
    }


def vapp_of(cloud, document):
    children = (document.get("children") or {}).get("vm", [])
    return {
        "id": id_of(document["href"]),
        "href": document["href"],
        "name": document["name"],
        "status": STATUSES[document["status"]],
        "vms": sorted(({"name": each["name"], "status": STATUSES[each["status"]]} for each in children), key=lambda vm: vm["name"]),
        "metadata": read_metadata(cloud, document["href"]),
    }


def require_usable(entity):
    """An entity whose state is not known cannot be compared with what is wanted."""
    advice = {
        "FAILED_CREATION": "its creation failed: delete it with state: absent, then run this again",
        "UNKNOWN": "its host does not answer: run this again when it does",
        "LOST": "its host does not have it: delete it with state: absent, or ask the administrators of the cloud",
    }.get(entity["status"])
    if advice is not None:
        raise CloudError("%s is %s; %s" % (entity["name"], entity["status"], advice))


def sourced_item(template, name, networks=None, guest=None):
    """A VM to create, as ComposeVAppParams and RecomposeVAppParams have it."""
    guest = guest or {}
    written = {"computerName": guest.get("computer_name"), "sshKey": guest.get("ssh_keys"), "userData": guest.get("user_data")}
    known = {key: value for key, value in written.items() if value}
    item = {"source": {"href": template["href"], "name": name}}
    if networks:
        item["instantiationParams"] = {"networkConnectionSection": {"networkConnection": connections_of(networks)}}
    if known:
        item["guestCustomizationSection"] = known
    return item


def compose(cloud, vdc, name, items):
    """Creates a vApp whose VMs are off."""
    body = {"name": name, "powerOn": False, "sourcedItem": items}
    cloud.wait(cloud.ask("POST", "%s/action/composeVApp" % vdc["href"], body))


def recompose(cloud, vapp, items):
    cloud.wait(cloud.ask("POST", "%s/action/recomposeVApp" % vapp["href"], {"sourcedItem": items}))


def delete(cloud, entity):
    cloud.wait(cloud.ask("DELETE", entity["href"]))


def shown(entity):
    """Without what differs from run to run, for a diff."""
    if entity is None:
        return {}
    return {key: value for key, value in entity.items() if key not in ("id", "href", "vapp_href")}
