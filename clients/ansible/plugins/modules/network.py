#!/usr/bin/python
# Copyright Skerry contributors
# Apache License, Version 2.0
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

DOCUMENTATION = r"""
module: network
short_description: Create, change and delete a network of an organisation
version_added: 0.1.0
description:
  - A network across hosts has the addresses and the description that the task names. What the task does not name stays as it is.
  - Needs the role organisation administrator, and a cloud with a network server.
options:
  name:
    description: Name of the network.
    type: str
    required: true
  state:
    description: V(absent) deletes the network. No VM may be on it.
    type: str
    choices: [present, absent]
    default: present
  vdc:
    description: Name of the virtual data centre for a new network. Only needed if the organisation has several.
    type: str
  kind:
    description: Whether a new network connects only its VMs, or also reaches the outside through the edge gateway.
    type: str
    choices: [isolated, routed]
    default: isolated
  range:
    description: Addresses of the network, such as V(192.168.10.0/24). Needed for a new network.
    type: str
  gateway:
    description: Address of the router. Default is the first one of the range.
    type: str
  pool:
    description: Ranges from which the cloud chooses addresses, such as V(192.168.10.100-192.168.10.199). Default is the whole range.
    type: list
    elements: str
  dns:
    description: Addresses of at most two name servers.
    type: list
    elements: str
  dns_suffix:
    description: Domain that the guests search.
    type: str
  description:
    description: What the network is for.
    type: str
  shared:
    description: Whether all data centres of the organisation may use it.
    type: bool
extends_documentation_fragment: [skerry.cloud.cloud]
attributes:
  check_mode:
    support: full
    description: Changes nothing, and returns what it would do in RV(actions).
  diff_mode:
    support: full
    description: Shows the state before and afterwards.
"""

EXAMPLES = r"""
- name: A network between web servers and their database
  skerry.cloud.network:
    name: backend
    range: 192.168.10.0/24
    pool: [192.168.10.100-192.168.10.199]
    description: Between the web servers and their database
"""

RETURN = r"""
network:
  description: The network, or nothing if it does not exist.
  returned: success
  type: dict
  contains:
    id: {description: Its id., type: str}
    name: {description: Its name., type: str}
    kind: {description: "V(isolated), V(routed) or V(bridged).", type: str}
    range: {description: Its addresses., type: str}
    gateway: {description: The address of its router., type: str}
    pool: {description: The ranges from which the cloud chooses addresses., type: list}
    dns: {description: Its name servers., type: list}
    dns_suffix: {description: The domain that guests search., type: str}
    description: {description: What it is for., type: str}
    shared: {description: Whether all data centres of the organisation may use it., type: bool}
actions:
  description: What was changed or, in check mode, would be.
  returned: always
  type: list
  sample: [create network backend]
"""

import ipaddress

from ansible_collections.skerry.cloud.plugins.module_utils.client import CloudError, id_of
from ansible_collections.skerry.cloud.plugins.module_utils.places import find_vdc
from ansible_collections.skerry.cloud.plugins.module_utils.run_module import run_module

OPTIONS = {
    "name": {"type": "str", "required": True},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "vdc": {"type": "str"},
    "kind": {"type": "str", "choices": ["isolated", "routed"], "default": "isolated"},
    "range": {"type": "str"},
    "gateway": {"type": "str"},
    "pool": {"type": "list", "elements": "str"},
    "dns": {"type": "list", "elements": "str"},
    "dns_suffix": {"type": "str"},
    "description": {"type": "str"},
    "shared": {"type": "bool"},
}
# The words of the API.
FENCES = {"isolated": "isolated", "routed": "natRouted", "bridged": "bridged"}
CHANGEABLE = ("range", "gateway", "pool", "dns", "dns_suffix", "description", "shared")


def ensure(cloud, params, changes):
    network = find_network(cloud, params["name"])
    changes.began_with(shown(network))
    name = params["name"]
    if params["state"] == "absent":
        if network is not None:
            changes.make("delete network %s" % name, lambda: cloud.wait(cloud.ask("DELETE", network["href"])))
        return {}, {"network": None}
    wanted = wanted_of(params)
    if network is None:
        after = create(cloud, params, changes, wanted)
    else:
        after = change(cloud, params, changes, network, wanted)
    if changes.actions and not changes.check_mode:
        after = find_network(cloud, name) or after
    return shown(after), {"network": after}


def find_network(cloud, name):
    records = cloud.query("orgVdcNetwork", {"name": name})
    if not records:
        return None
    href = "/api/admin/network/%s" % id_of(records[0]["href"])
    cloud.settle(cloud.find(href))
    document = cloud.find(href)
    return None if document is None else network_of(document)


def network_of(document):
    configuration = document["configuration"]
    scope = (configuration.get("ipScopes") or {}).get("ipScope") or {}
    kinds = {fence: kind for kind, fence in FENCES.items()}
    gateway, netmask = scope.get("gateway"), scope.get("netmask")
    ranges = (scope.get("ipRanges") or {}).get("ipRange", [])
    return {
        "id": id_of(document["href"]),
        "href": document["href"],
        "name": document["name"],
        "kind": kinds[configuration["fenceMode"]],
        "range": str(ipaddress.ip_network("%s/%s" % (gateway, netmask), strict=False)) if gateway and netmask else None,
        "gateway": gateway,
        "pool": sorted("%s-%s" % (each["startAddress"], each["endAddress"]) for each in ranges),
        "dns": [scope[each] for each in ("dns1", "dns2") if scope.get(each)],
        "dns_suffix": scope.get("dnsSuffix", ""),
        "description": document.get("description", ""),
        "shared": document.get("isShared", False),
    }


def wanted_of(params):
    """What the task names, as network_of writes it."""
    wanted = {each: params[each] for each in CHANGEABLE if params[each] is not None}
    if "range" in wanted:
        try:
            addresses = ipaddress.ip_network(wanted["range"])
        except ValueError as cause:
            raise CloudError("range must be a network such as 192.168.10.0/24: %s" % cause) from cause
        wanted["range"] = str(addresses)
        wanted.setdefault("gateway", str(addresses[1]))
    if "pool" in wanted:
        wanted["pool"] = sorted(pool_part(each) for each in wanted["pool"])
    return wanted


def pool_part(text):
    first, dash, last = text.replace(" ", "").partition("-")
    return "%s-%s" % (first, last if dash else first)


def create(cloud, params, changes, wanted):
    name = params["name"]
    if "range" not in wanted:
        raise CloudError("network not found: %s; name a range to create it" % name)
    vdc = find_vdc(cloud, params["vdc"])
    address = "/api/admin/vdc/%s/networks" % id_of(vdc["href"])
    body = {**document_of(name, wanted), "name": name}
    body["configuration"]["fenceMode"] = FENCES[params["kind"]]
    changes.make("create network %s" % name, lambda: cloud.wait(cloud.ask("POST", address, body)))
    nothing = {"id": None, "href": None, "pool": [], "dns": [], "dns_suffix": "", "description": "", "shared": False}
    return {**nothing, "name": name, "kind": params["kind"], **wanted}


def change(cloud, params, changes, network, wanted):
    if network["kind"] != params["kind"] and params["kind"] != OPTIONS["kind"]["default"]:
        raise CloudError("network %s is %s, and its kind cannot change: delete it first" % (network["name"], network["kind"]))
    different = sorted(each for each in wanted if wanted[each] != network[each])
    if not different:
        return network
    after = {**network, **wanted}
    body = document_of(network["name"], {each: after[each] for each in (*different, "range", "gateway") if after[each] is not None})
    changes.make(
        "set %s of network %s" % (", ".join(different), network["name"]),
        lambda: cloud.wait(cloud.ask("PUT", network["href"], body)),
    )
    return after


def document_of(name, wanted):
    """OrgVdcNetwork with what is wanted: what it does not contain stays."""
    scope = {}
    if "range" in wanted:
        scope = {"gateway": wanted["gateway"], "netmask": str(ipaddress.ip_network(wanted["range"]).netmask)}
    if "dns" in wanted:
        scope.update({"dns%d" % (place + 1): (wanted["dns"] + ["", ""])[place] for place in range(2)})
    if "dns_suffix" in wanted:
        scope["dnsSuffix"] = wanted["dns_suffix"]
    if "pool" in wanted:
        ends = [each.split("-") for each in wanted["pool"]]
        scope["ipRanges"] = {"ipRange": [{"startAddress": first, "endAddress": last} for first, last in ends]}
    document = {"name": name, "configuration": {"ipScopes": {"ipScope": scope}}}
    if "description" in wanted:
        document["description"] = wanted["description"]
    if "shared" in wanted:
        document["isShared"] = wanted["shared"]
    return document


def shown(network):
    return {} if network is None else {key: value for key, value in network.items() if key not in ("id", "href")}


def main():
    run_module(OPTIONS, ensure)


if __name__ == "__main__":
    main()
