#!/usr/bin/python
# Copyright Skerry contributors
# Apache License, Version 2.0
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

DOCUMENTATION = r"""
module: user
short_description: Create, change, enable and disable a user
version_added: 0.1.0
description:
  - A user of an organisation has the role that the task names, and is enabled or disabled.
  - Needs the role organisation administrator.
  - The cloud keeps users for its audit log, so this module disables a user instead of deleting it.
options:
  name:
    description: Name of the user, without the organisation.
    type: str
    required: true
  org:
    description: Name of the organisation. Default is that of the token's user.
    type: str
  state:
    description: V(disabled) ends the sessions, API tokens, workflow runs and screens of the user at once.
    type: str
    choices: [enabled, disabled]
    default: enabled
  role:
    description: Role of the user. Needed for a new one.
    type: str
    choices: [console only, user, author, organisation administrator, system administrator]
  password:
    description: Password of a new user; with O(update_password=always) also of an existing one.
    type: str
  update_password:
    description: V(always) sets the password in every run, which ends the sessions and tokens of the user, and is always a change.
    type: str
    choices: [on_create, always]
    default: on_create
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
- name: Rita may create VMs
  skerry.cloud.user:
    name: rita
    role: author
    password: "{{ vault_rita }}"

- name: Rita has left
  skerry.cloud.user:
    name: rita
    state: disabled
"""

RETURN = r"""
user:
  description: The user. It has no id in check mode if it would be created.
  returned: success
  type: dict
  contains:
    id: {description: Its id., type: str}
    name: {description: Its name., type: str}
    role: {description: Its role., type: str}
    enabled: {description: Whether it may log in., type: bool}
actions:
  description: What was changed or, in check mode, would be.
  returned: always
  type: list
  sample: [create user rita]
"""

from ansible_collections.skerry.cloud.plugins.module_utils.client import CloudError, id_of
from ansible_collections.skerry.cloud.plugins.module_utils.run_module import run_module
from ansible_collections.skerry.cloud.plugins.module_utils.users import find_org, find_user

ROLES = ["console only", "user", "author", "organisation administrator", "system administrator"]
OPTIONS = {
    "name": {"type": "str", "required": True},
    "org": {"type": "str"},
    "state": {"type": "str", "choices": ["enabled", "disabled"], "default": "enabled"},
    "role": {"type": "str", "choices": ROLES},
    "password": {"type": "str", "no_log": True},
    "update_password": {"type": "str", "choices": ["on_create", "always"], "default": "on_create", "no_log": False},
}


def ensure(cloud, params, changes):
    name = params["name"]
    org = find_org(cloud, params["org"])
    user = find_user(cloud, org, name)
    changes.began_with(shown(user))
    is_new = user is None
    if is_new:
        user = create(cloud, params, changes, org)
    different = {}
    if params["role"] not in (None, user["role"]):
        different["role"] = {"name": params["role"]}
    if user["enabled"] != (params["state"] == "enabled"):
        different["isEnabled"] = params["state"] == "enabled"
    if not is_new and params["password"] is not None and params["update_password"] == "always":
        different["password"] = params["password"]
    if different:
        words = sorted("enabled" if each == "isEnabled" else each for each in different)
        href = user["href"]
        changes.make("set %s of user %s" % (", ".join(words), name), lambda: cloud.ask("PUT", href, different))
        user = {**user, "role": params["role"] or user["role"], "enabled": params["state"] == "enabled"}
    if changes.actions and not changes.check_mode:
        user = find_user(cloud, org, name) or user
    return shown(user), {"user": user}


def create(cloud, params, changes, org):
    name, role, password = params["name"], params["role"], params["password"]
    if role is None or password is None:
        raise CloudError("user not found: %s; name a role and a password to create it" % name)
    body = {"name": name, "role": {"name": role}, "password": password}
    address = "/api/admin/org/%s/users" % id_of(org["href"])
    made = changes.make("create user %s" % name, lambda: cloud.ask("POST", address, body))
    href = None if made is None else made["href"]
    return {"id": None if href is None else id_of(href), "href": href, "name": name, "role": role, "enabled": True}


def shown(user):
    return {} if user is None else {key: user[key] for key in ("name", "role", "enabled")}


def main():
    run_module(OPTIONS, ensure)


if __name__ == "__main__":
    main()
