# Copyright Skerry contributors
# Apache License, Version 2.0
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

DOCUMENTATION = r"""
name: vms
short_description: The VMs of a Skerry cloud
version_added: 0.1.0
description:
  - Reads the VMs of an organisation with the query service. A host has the name of its VM, and its address as C(ansible_host).
  - VMs of one name in several vApps are called VAPP.VM.
  - Groups are C(status_powered_on) and the other statuses, C(vapp_NAME), C(vdc_NAME) and, for each label, C(label_KEY_VALUE).
  - The file of the inventory ends in C(skerry.yml) or C(skerry.yaml).
author:
  - Skerry (@skerry)
options:
  plugin:
    description: Name of this plugin.
    type: str
    required: true
    choices: [skerry.cloud.vms]
  url:
    description: Address of the cloud, such as V(https://cloud.example).
    type: str
    required: true
    env:
      - name: SKERRY_URL
  token:
    description: An API token of the user.
    type: str
    required: true
    env:
      - name: SKERRY_TOKEN
  ca:
    description: File with the certificate of the cloud's issuer, if the machine does not trust it already.
    type: path
    env:
      - name: SKERRY_CA
  filter:
    description: Condition in the language of the query service, such as V(status==POWERED_ON).
    type: str
  labels:
    description: Whether to read the metadata of the VMs, which takes a request for each VM.
    type: bool
    default: true
extends_documentation_fragment: [constructed]
requirements:
  - Python 3.8 or newer; its standard library is enough
"""

EXAMPLES = r"""
# web.skerry.yml
plugin: skerry.cloud.vms
filter: status==POWERED_ON
compose:
  ansible_user: "'debian'"
keyed_groups:
  - key: skerry.cpus | string
    prefix: cpus
"""

from collections import Counter

from ansible.errors import AnsibleParserError
from ansible.plugins.inventory import BaseInventoryPlugin, Constructable
from ansible_collections.skerry.cloud.plugins.module_utils.client import Cloud, CloudError, id_of
from ansible_collections.skerry.cloud.plugins.module_utils.metadata import read_metadata


class InventoryModule(BaseInventoryPlugin, Constructable):
    NAME = "skerry.cloud.vms"

    def verify_file(self, path):
        return super().verify_file(path) and path.endswith(("skerry.yml", "skerry.yaml"))

    def parse(self, inventory, loader, path, cache=True):
        super().parse(inventory, loader, path, cache)
        self._read_config_data(path)
        try:
            self._add_vms(Cloud(self.get_option("url"), self.get_option("token"), self.get_option("ca")))
        except CloudError as refused:
            raise AnsibleParserError(refused.message) from refused

    def _add_vms(self, cloud):
        condition = self.get_option("filter")
        records = cloud.query("vm", **({"filter": condition} if condition else {}))
        counts = Counter(each["name"] for each in records)
        for record in records:
            unique = counts[record["name"]] == 1
            name = record["name"] if unique else "%s.%s" % (record["containerName"], record["name"])
            self._add_vm(name, vm_of(record, self._labels(cloud, record)))

    def _labels(self, cloud, record):
        if not self.get_option("labels"):
            return {}
        try:
            return read_metadata(cloud, record["href"])
        except CloudError as refused:
            # The VM was deleted after the query.
            if refused.status == 404:
                return {}
            raise

    def _add_vm(self, name, vm):
        host = self.inventory.add_host(name)
        if vm["address"]:
            self.inventory.set_variable(host, "ansible_host", vm["address"])
        self.inventory.set_variable(host, "skerry", vm)
        labels = ["label_%s_%s" % label for label in vm["labels"].items()]
        for group in ["status_%s" % vm["status"].lower(), "vapp_%s" % vm["vapp"], "vdc_%s" % vm["vdc"], *labels]:
            self.inventory.add_child(self.inventory.add_group(self._sanitize_group_name(group)), host)
        strict = self.get_option("strict")
        variables = {"skerry": vm}
        self._set_composite_vars(self.get_option("compose"), variables, host, strict=strict)
        self._add_host_to_composed_groups(self.get_option("groups"), variables, host, strict=strict)
        self._add_host_to_keyed_groups(self.get_option("keyed_groups"), variables, host, strict=strict)


def vm_of(record, labels):
    return {
        "id": id_of(record["href"]),
        "name": record["name"],
        "vapp": record["containerName"],
        "vdc": record["vdcName"],
        "status": record["status"],
        "address": record.get("ipAddress"),
        "network": record.get("networkName"),
        "cpus": record["numberOfCpus"],
        "memory": record["memoryMB"],
        "disk": record["diskMB"],
        "labels": labels,
    }
