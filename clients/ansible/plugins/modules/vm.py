#!/usr/bin/python
# Copyright Skerry contributors
# Apache License, Version 2.0
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

DOCUMENTATION = r"""
module: vm
short_description: Create, change, start, stop and delete a VM
version_added: 0.1.0
description:
  - A VM of a Skerry cloud has the template, sizes, networks and power that the task names. What the task does not name stays as it is.
  - The VM is found by its name. If VMs of several vApps have this name, O(vapp) selects one.
  - A new VM is in a vApp of its own with the same name, unless O(vapp) names another.
options:
  name:
    description: Name of the VM.
    type: str
    required: true
  state:
    description:
      - V(present) creates the VM if it does not exist, and leaves its power as it is. A new VM is off.
      - V(started) and V(stopped) do the same and then start or stop it.
      - V(absent) deletes it, and its vApp too if the vApp has the same name and no other VM.
    type: str
    choices: [present, started, stopped, absent]
    default: present
  vapp:
    description: Name of the vApp that contains the VM. A new VM is added to it, or the vApp is created.
    type: str
  vdc:
    description: Name of the virtual data centre for a new VM. Only needed if the organisation has several.
    type: str
  template:
    description: Name of the template for a new VM. The template of an existing VM cannot be compared or changed.
    type: str
  cpus:
    description: Number of CPUs. Changes only while the VM is off.
    type: int
  memory:
    description: Memory in MiB. Changes only while the VM is off.
    type: int
  disk:
    description: Size of the disk in MiB. Changes only while the VM is off, and cannot shrink.
    type: int
  networks:
    description:
      - Networks across hosts, one network card for each, in this order. The list replaces the cards of the VM.
      - They change only while the VM is off, except O(networks[].connected).
    type: list
    elements: dict
    suboptions:
      name:
        description: Name of the network.
        type: str
        required: true
      address:
        description: Address of the card. By default the cloud chooses one.
        type: str
      mode:
        description: How the card gets its address. Default is V(MANUAL) with O(networks[].address), and V(POOL) without.
        type: str
        choices: [POOL, DHCP, MANUAL, NONE]
      connected:
        description: Whether the card is connected.
        type: bool
        default: true
  metadata:
    description: Labels of the VM. Other labels stay.
    type: dict
  computer_name:
    description: Host name of the guest of a new VM.
    type: str
  ssh_keys:
    description: Public SSH keys that may log in to the guest of a new VM.
    type: list
    elements: str
  user_data:
    description: A cloud-init document for the guest of a new VM.
    type: str
  stop_by:
    description: Whether to stop a VM by asking its guest to shut down, or by powering it off at once.
    type: str
    choices: [shutdown, power_off]
    default: shutdown
  force:
    description:
      - Allows to stop a running VM for a change or for its deletion. After a change it is started again.
      - Allows to discard the memory of a suspended VM.
    type: bool
    default: false
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
- name: A web server that runs
  skerry.cloud.vm:
    name: web
    template: debian
    cpus: 2
    memory: 2048
    networks:
      - name: backend
        address: 192.168.10.7
    ssh_keys: ["{{ lookup('file', '~/.ssh/id_ed25519.pub') }}"]
    metadata: {role: web}
    state: started

- name: It does not exist
  skerry.cloud.vm:
    name: web
    state: absent
    force: true
"""

RETURN = r"""
vm:
  description: The VM, or nothing if it does not exist.
  returned: success
  type: dict
  contains:
    id: {description: Its id., type: str}
    name: {description: Its name., type: str}
    vapp: {description: The name of its vApp., type: str}
    status: {description: A word such as POWERED_ON., type: str}
    cpus: {description: Number of CPUs., type: int}
    memory: {description: Memory in MiB., type: int}
    disk: {description: Size of the disk in MiB., type: int}
    address: {description: The first address of its cards; nothing before its host has reported one., type: str}
    networks: {description: Its network cards., type: list}
    metadata: {description: Its labels., type: dict}
actions:
  description: What was changed or, in check mode, would be.
  returned: always
  type: list
  sample: [create VM web, "set cpus of web from 1 to 2", start web]
"""

from ansible_collections.skerry.cloud.plugins.module_utils.cards import (
    NETWORKS,
    connections_of,
    planned_cards,
    same_cards,
    same_places,
)
from ansible_collections.skerry.cloud.plugins.module_utils.client import CloudError
from ansible_collections.skerry.cloud.plugins.module_utils.metadata import ensure_metadata
from ansible_collections.skerry.cloud.plugins.module_utils.places import find_template, find_vdc
from ansible_collections.skerry.cloud.plugins.module_utils.power import POWER_OPTIONS, require_off, start, stop
from ansible_collections.skerry.cloud.plugins.module_utils.run_module import run_module
from ansible_collections.skerry.cloud.plugins.module_utils.vms import (
    GUEST_OPTIONS,
    SIZES,
    compose,
    delete,
    find_vapp,
    find_vm,
    recompose,
    require_usable,
    shown,
    sourced_item,
)

OPTIONS = {
    "name": {"type": "str", "required": True},
    "state": {"type": "str", "choices": ["present", "started", "stopped", "absent"], "default": "present"},
    "vapp": {"type": "str"},
    "vdc": {"type": "str"},
    "template": {"type": "str"},
    "cpus": {"type": "int"},
    "memory": {"type": "int"},
    "disk": {"type": "int"},
    "networks": NETWORKS,
    "metadata": {"type": "dict"},
    **GUEST_OPTIONS,
    **POWER_OPTIONS,
}


def ensure(cloud, params, changes):
    vm = find_vm(cloud, params["name"], params["vapp"])
    changes.began_with(shown(vm))
    if params["state"] == "absent":
        if vm is not None:
            ensure_absent(cloud, params, changes, vm)
        return {}, {"vm": None}
    if vm is None:
        vm = create(cloud, params, changes)
    require_usable(vm)
    ensure_hardware(cloud, params, changes, vm)
    ensure_metadata(cloud, changes, vm, params["metadata"])
    if params["state"] == "started" and vm["status"] != "POWERED_ON":
        start(cloud, changes, vm)
    if params["state"] == "stopped" and vm["status"] != "POWERED_OFF":
        stop(cloud, changes, vm, params)
    if changes.actions and not changes.check_mode:
        vm = find_vm(cloud, vm["name"], vm["vapp"]) or vm
    return shown(vm), {"vm": {key: value for key, value in vm.items() if key != "vapp_href"}}


def create(cloud, params, changes):
    name = params["name"]
    if params["template"] is None:
        raise CloudError("VM not found: %s; name a template to create it" % name)
    template = find_template(cloud, params["template"])
    vapp_name = params["vapp"] or name
    vapp = find_vapp(cloud, vapp_name)
    item = sourced_item(template, name, params["networks"], params)
    if vapp is not None:
        changes.make("create VM %s in vApp %s" % (name, vapp_name), lambda: recompose(cloud, vapp, [item]))
    else:
        vdc = find_vdc(cloud, params["vdc"])
        changes.make("create VM %s" % name, lambda: compose(cloud, vdc, vapp_name, [item]))
    if not changes.check_mode:
        made = find_vm(cloud, name, vapp_name)
        if made is None:
            raise CloudError("VM %s was deleted by somebody else right after its creation" % name)
        return made
    return {
        "id": None,
        "href": None,
        "name": name,
        "vapp": vapp_name,
        "vapp_href": None,
        "status": "POWERED_OFF",
        "cpus": template["numberOfCpus"],
        "memory": template["memoryMB"],
        "disk": template["diskMB"],
        "networks": planned_cards(params["networks"]),
        "address": None,
        "metadata": {},
    }


def ensure_hardware(cloud, params, changes, vm):
    sizes = {each: params[each] for each in SIZES.values() if params[each] not in (None, vm[each])}
    networks = params["networks"]
    moves = networks is not None and not same_places(networks, vm["networks"])
    if not sizes and not moves and (networks is None or same_cards(networks, vm["networks"])):
        return
    purpose = " and ".join([*sorted(sizes), *(["networks"] if moves else [])])
    was_on = require_off(cloud, changes, vm, params, "a change of %s" % purpose) if purpose else False
    if sizes:
        resize(cloud, changes, vm, sizes)
    if networks is not None and not same_cards(networks, vm["networks"]):
        connect(cloud, changes, vm, networks)
    if was_on and params["state"] != "stopped":
        start(cloud, changes, vm)


def resize(cloud, changes, vm, sizes):
    kinds = {size: kind for kind, size in SIZES.items()}
    items = [{"resourceType": kinds[size], "virtualQuantity": quantity} for size, quantity in sizes.items()]
    body = {"virtualHardwareSection": {"item": items}}
    words = ", ".join("%s from %d to %d" % (size, vm[size], sizes[size]) for size in sorted(sizes))
    changes.make(
        "set %s of %s" % (words, vm["name"]),
        lambda: cloud.wait(cloud.ask("POST", "%s/action/reconfigureVm" % vm["href"], body)),
    )
    vm.update(sizes)


def connect(cloud, changes, vm, networks):
    body = {"networkConnection": connections_of(networks)}
    words = ", ".join(each["name"] for each in networks) or "none"
    changes.make(
        "set networks of %s to %s" % (vm["name"], words),
        lambda: cloud.wait(cloud.ask("PUT", "%s/networkConnectionSection" % vm["href"], body)),
    )
    vm["networks"] = planned_cards(networks)


def ensure_absent(cloud, params, changes, vm):
    if vm["status"] in ("POWERED_ON", "SUSPENDED"):
        require_off(cloud, changes, vm, params, "its deletion")
    vapp = find_vapp(cloud, vm["vapp"]) if vm["vapp"] == vm["name"] else None
    if vapp is not None and len(vapp["vms"]) == 1:
        changes.make("delete VM %s and its vApp" % vm["name"], lambda: delete(cloud, vapp))
    else:
        changes.make("delete VM %s" % vm["name"], lambda: delete(cloud, vm))


def main():
    run_module(OPTIONS, ensure)


if __name__ == "__main__":
    main()
