#!/usr/bin/python
# Copyright Skerry contributors
# Apache License, Version 2.0
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

DOCUMENTATION = r"""
module: token_info
short_description: List API tokens
version_added: 0.1.0
description: Lists the API tokens of the caller or, for administrators of the organisation, of another user. Never their secrets.
options:
  user:
    description: Name of the user whose tokens they are. Default is the user of O(token).
    type: str
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
- name: Which tokens does rita have?
  skerry.cloud.token_info:
    user: rita
  register: found
"""

RETURN = r"""
tokens:
  description: The tokens.
  returned: success
  type: list
  elements: dict
  contains:
    id: {description: Its id., type: str}
    name: {description: Its name., type: str}
    created: {description: When it was created., type: str}
    last_used: {description: When it was used last., type: str}
    expires: {description: When it expires., type: str}
"""

from ansible_collections.skerry.cloud.plugins.module_utils.run_module import run_module
from ansible_collections.skerry.cloud.plugins.module_utils.tokens import list_tokens


def read(cloud, params, changes):
    return None, {"tokens": list_tokens(cloud, params["user"])}


def main():
    run_module({"user": {"type": "str"}}, read)


if __name__ == "__main__":
    main()
