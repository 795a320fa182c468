# Copyright Skerry contributors
# Apache License, Version 2.0
# SPDX-License-Identifier: Apache-2.0
"""API tokens of the caller or, for administrators, of another user."""

from __future__ import annotations

from ansible_collections.skerry.cloud.plugins.module_utils.client import CloudError, id_of
from ansible_collections.skerry.cloud.plugins.module_utils.users import find_org, find_user


def list_tokens(cloud, user=None):
    address = "/api/session/tokens"
    if user is not None:
        found = find_user(cloud, find_org(cloud), user)
        if found is None:
            raise CloudError("user not found: %s; the cloud's names have upper and lower case" % user)
        address = "/api/admin/user/%s/tokens" % found["id"]
    return [token_of(each) for each in cloud.get(address)["accessToken"]]


def token_of(document):
    return {
        "id": id_of(document["href"]),
        "href": document["href"],
        "name": document["name"],
        "created": document["dateCreated"],
        "last_used": document.get("lastUsed"),
        "expires": document.get("expires"),
    }
