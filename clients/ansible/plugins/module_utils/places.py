# Copyright Skerry contributors
# Apache License, Version 2.0
# SPDX-License-Identifier: Apache-2.0
"""Where something is created: the data centre and the template of a name."""

from __future__ import annotations

from ansible_collections.skerry.cloud.plugins.module_utils.client import CloudError


def find_vdc(cloud, name):
    """The data centre of this name, or the only one."""
    records = cloud.query("orgVdc", {"name": name} if name is not None else None)
    if len(records) == 1:
        return records[0]
    if name is not None:
        known = cloud.query("orgVdc")
        raise CloudError("vdc not found: %s; %s" % (name, there_are(known)))
    raise CloudError("vdc is missing: %s" % there_are(records))


def find_template(cloud, name):
    records = cloud.query("vAppTemplate", {"name": name})
    if len(records) == 1:
        return records[0]
    if records:
        raise CloudError("%d templates are called %s: rename one" % (len(records), name))
    raise CloudError("template not found: %s; %s" % (name, there_are(cloud.query("vAppTemplate", limit=20))))


def there_are(records):
    names = ", ".join(sorted(each["name"] for each in records))
    return "there are: %s" % names if names else "there are none"
