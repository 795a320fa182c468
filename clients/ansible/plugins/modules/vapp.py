#!/usr/bin/python
# Copyright Skerry contributors
# Apache License, Version 2.0
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

DOCUMENTATION = r"""
module: vapp
short_description: Create, start, stop and delete a vApp
version_added: 0.1.0
description:
  - A vApp of a Skerry cloud has the VMs that the task names, and their power. Other VMs of the vApp stay.
  - Sizes and networks of an existing VM are changed with M(skerry.cloud.vm).
options:
  name:
    description: Name of the vApp.
    type: str
    required: true
  state:
    description:
      - V(present) creates the vApp if it does not exist, and adds VMs that are missing. New VMs are off.
      - V(started) and V(stopped) do the same and then start or stop all VMs, in the order of their starts.
      - V(absent) deletes the vApp with all its VMs.
    type: str
    choices: [present, started, stopped, absent]
    default: present
  vdc:
    description: Name of the virtual data centre for a new vApp. Only needed if the organisation has several.
    type: str
  vms:
    description: VMs that the vApp contains.
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description: Name of the VM.
        type: str
        required: true
      template:
        description: Name of the template of a new VM.
        type: str
        required: true
      networks:
        description: Networks across hosts of a new VM, one network card for each.
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
            description: How the card gets its address. Default is V(MANUAL) with an address, and V(POOL) without.
            type: str
            choices: [POOL, DHCP, MANUAL, NONE]
          connected:
            description: Whether the card is connected.
            type: bool
            default: true
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
  metadata:
    description: Labels of the vApp. Other labels stay.
    type: dict
  stop_by:
    description: Whether to stop VMs by asking their guests to shut down, or by powering them off at once.
    type: str
    choices: [shutdown, power_off]
    default: shutdown
  force:
    description: Allows to stop running VMs for the deletion of the vApp.
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
- name: A site of two VMs that run
  skerry.cloud.vapp:
    name: site
    vms:
      - {name: web, template: debian}
      - {name: db, template: debian}
    state: started

- name: It does not exist
  skerry.cloud.vapp:
    name: site
    state: absent
    force: true
"""

RETURN = r"""
vapp:
  description: The vApp, or nothing if it does not exist.
  returned: success
  type: dict
  contains:
    id: {description: Its id., type: str}
    name: {description: Its name., type: str}
    status: {description: The status that all its VMs have; otherwise MIXED., type: str}
    vms: {description: Its VMs with name and status., type: list}
    metadata: {description: Its labels., type: dict}
actions:
  description: What was changed or, in check mode, would be.
  returned: always
  type: list
  sample: [create vApp site, start site]
"""

from ansible_collections.skerry.cloud.plugins.module_utils.cards import NETWORKS
from ansible_collections.skerry.cloud.plugins.module_utils.metadata import ensure_metadata
from ansible_collections.skerry.cloud.plugins.module_utils.places import find_template, find_vdc
from ansible_collections.skerry.cloud.plugins.module_utils.power import POWER_OPTIONS, require_off, start, stop
from ansible_collections.skerry.cloud.plugins.module_utils.run_module import run_module
from ansible_collections.skerry.cloud.plugins.module_utils.vms import (
    GUEST_OPTIONS,
    compose,
    delete,
    find_vapp,
    recompose,
    require_usable,
    shown,
    sourced_item,
)

VM_OPTIONS = {
    "name": {"type": "str", "required": True},
    "template": {"type": "str", "required": True},
    "networks": NETWORKS,
    **GUEST_OPTIONS,
}
OPTIONS = {
    "name": {"type": "str", "required": True},
    "state": {"type": "str", "choices": ["present", "started", "stopped", "absent"], "default": "present"},
    "vdc": {"type": "str"},
    "vms": {"type": "list", "elements": "dict", "default": [], "options": VM_OPTIONS},
    "metadata": {"type": "dict"},
    **POWER_OPTIONS,
}


def ensure(cloud, params, changes):
    vapp = find_vapp(cloud, params["name"])
    changes.began_with(shown(vapp))
    if params["state"] == "absent":
        if vapp is not None:
            if any(each["status"] in ("POWERED_ON", "SUSPENDED") for each in vapp["vms"]):
                require_off(cloud, changes, vapp, params, "its deletion")
            changes.make("delete vApp %s" % vapp["name"], lambda: delete(cloud, vapp))
        return {}, {"vapp": None}
    vapp = ensure_vms(cloud, params, changes, vapp)
    require_usable(vapp)
    ensure_metadata(cloud, changes, vapp, params["metadata"])
    statuses = {each["status"] for each in vapp["vms"]}
    if params["state"] == "started" and statuses - {"POWERED_ON"}:
        start(cloud, changes, vapp)
        show_power(vapp, "POWERED_ON")
    if params["state"] == "stopped" and statuses - {"POWERED_OFF"}:
        stop(cloud, changes, vapp, params)
        show_power(vapp, "POWERED_OFF")
    if changes.actions and not changes.check_mode:
        vapp = find_vapp(cloud, vapp["name"]) or vapp
    return shown(vapp), {"vapp": vapp}


def show_power(vapp, status):
    vapp["vms"] = [{**each, "status": status} for each in vapp["vms"]]


def ensure_vms(cloud, params, changes, vapp):
    name = params["name"]
    there = {each["name"] for each in vapp["vms"]} if vapp is not None else set()
    missing = [each for each in params["vms"] if each["name"] not in there]
    if vapp is not None and not missing:
        return vapp
    items = [sourced_item(find_template(cloud, each["template"]), each["name"], each["networks"], each) for each in missing]
    if vapp is None:
        vdc = find_vdc(cloud, params["vdc"])
        changes.make("create vApp %s" % name, lambda: compose(cloud, vdc, name, items))
    else:
        names = ", ".join(each["name"] for each in missing)
        changes.make("create %s in vApp %s" % (names, name), lambda: recompose(cloud, vapp, items))
    if not changes.check_mode:
        return find_vapp(cloud, name)
    empty = {"id": None, "href": None, "name": name, "vms": [], "metadata": {}}
    planned = [{"name": each["name"], "status": "POWERED_OFF"} for each in missing]
    whole = sorted([*(vapp or empty)["vms"], *planned], key=lambda vm: vm["name"])
    statuses = {each["status"] for each in whole}
    status = "RESOLVED" if not whole else whole[0]["status"] if len(statuses) == 1 else "MIXED"
    return {**(vapp or empty), "status": status, "vms": whole}


def main():
    run_module(OPTIONS, ensure)


if __name__ == "__main__":
    main()
