# Copyright Skerry contributors
# Apache License, Version 2.0
# SPDX-License-Identifier: Apache-2.0
"""The users of an organisation, as its administrators see them."""

from __future__ import annotations

from ansible_collections.skerry.cloud.plugins.module_utils.client import CloudError, id_of


def find_org(cloud, name=None):
    """The organisation of this name, or that of the token's user."""
    wanted = cloud.get("/api/session")["org"] if name is None else name
    for each in cloud.get("/api/admin")["organizations"]["organization"]:
        if each["name"] == wanted:
            return cloud.get(each["href"])
    raise CloudError("organisation not found: %s; the token must be of one of its administrators" % wanted)


def find_user(cloud, org, name):
    # The list that find_org has read may be older than the user.
    for each in cloud.get(org["href"])["users"]["userReference"]:
        if each["name"] == name:
            return user_of(cloud.get(each["href"]))
    return None


def user_of(document):
    href = document["href"]
    return {
        "id": id_of(href),
        "href": href,
        "name": document["name"],
        "role": (document.get("role") or {}).get("name"),
        "enabled": document.get("isEnabled", True),
    }
