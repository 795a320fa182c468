#!/usr/bin/python
# Copyright Skerry contributors
# Apache License, Version 2.0
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

DOCUMENTATION = r"""
module: token
short_description: Revoke an API token
version_added: 0.1.0
description:
  - Revokes an API token of the caller or, for administrators of the organisation, of another user.
  - Only a session that began with a password can create a token, so this module creates none.
options:
  name:
    description: Name of the API token.
    type: str
    required: true
  user:
    description: Name of the user whose token it is. Default is the user of O(token).
    type: str
  state:
    description: The token is invalid from then on.
    type: str
    choices: [absent]
    default: absent
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
- name: The old token is invalid
  skerry.cloud.token:
    name: nightly
    user: rita
    state: absent
"""

RETURN = r"""
actions:
  description: What was changed or, in check mode, would be.
  returned: always
  type: list
  sample: [revoke token nightly]
"""

from ansible_collections.skerry.cloud.plugins.module_utils.run_module import run_module
from ansible_collections.skerry.cloud.plugins.module_utils.tokens import list_tokens

OPTIONS = {
    "name": {"type": "str", "required": True},
    "user": {"type": "str"},
    "state": {"type": "str", "choices": ["absent"], "default": "absent"},
}


def ensure(cloud, params, changes):
    found = [each for each in list_tokens(cloud, params["user"]) if each["name"] == params["name"]]
    changes.began_with({"tokens": [each["name"] for each in found]})
    for each in found:
        changes.make("revoke token %s" % each["name"], lambda href=each["href"]: cloud.ask("DELETE", href))
    return {"tokens": []}, {}


def main():
    run_module(OPTIONS, ensure)


if __name__ == "__main__":
    main()
