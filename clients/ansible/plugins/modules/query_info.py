#!/usr/bin/python
# Copyright Skerry contributors
# Apache License, Version 2.0
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

DOCUMENTATION = r"""
module: query_info
short_description: Query what a cloud has
version_added: 0.1.0
description: Reads records of one type with the query service of the cloud, all pages.
options:
  type:
    description: Type of the records, such as V(vm), V(vApp), V(vAppTemplate), V(orgVdc), V(orgVdcNetwork), V(task) or V(event).
    type: str
    required: true
  filter:
    description: Condition in the language of the query service, such as V(status==POWERED_ON;name==web*).
    type: str
  fields:
    description: Attributes that are returned. Default is all of them.
    type: list
    elements: str
  sort:
    description: Attribute by which the records are sorted.
    type: str
  descending:
    description: Whether the order is descending.
    type: bool
    default: false
  limit:
    description: The maximum number of records.
    type: int
extends_documentation_fragment: [skerry.cloud.cloud]
attributes:
  check_mode:
    support: full
    description: Reads only.
  diff_mode:
    support: none
    description: Reads only.
"""

EXAMPLES = r"""
- name: Which web servers are off?
  skerry.cloud.query_info:
    type: vm
    filter: status==POWERED_OFF;name==web*
    fields: [name, containerName]
  register: found
"""

RETURN = r"""
records:
  description: The records, with the attributes that docs/reference/api/cloud.md lists.
  returned: success
  type: list
  elements: dict
"""

from ansible_collections.skerry.cloud.plugins.module_utils.run_module import run_module

OPTIONS = {
    "type": {"type": "str", "required": True},
    "filter": {"type": "str"},
    "fields": {"type": "list", "elements": "str"},
    "sort": {"type": "str"},
    "descending": {"type": "bool", "default": False},
    "limit": {"type": "int"},
}


def read(cloud, params, changes):
    more = {}
    if params["filter"]:
        more["filter"] = params["filter"]
    if params["fields"]:
        more["fields"] = ",".join(params["fields"])
    if params["sort"]:
        more["sortDesc" if params["descending"] else "sortAsc"] = params["sort"]
    found = cloud.query(params["type"], limit=params["limit"], **more)
    return None, {"records": [{key: value for key, value in each.items() if key != "link"} for each in found]}


def main():
    run_module(OPTIONS, read)


if __name__ == "__main__":
    main()
