# Copyright Skerry contributors
# Apache License, Version 2.0
# SPDX-License-Identifier: Apache-2.0
"""What all modules have in common: the options of the connection, errors, conflicts, and what was changed."""

from __future__ import annotations

from ansible.module_utils.basic import AnsibleModule, env_fallback
from ansible_collections.skerry.cloud.plugins.module_utils.client import Cloud, CloudError

# Another user may change the same VM between a read and a change.
CONFLICTS_MAX = 5


def connection_options():
    return {
        "url": {"type": "str", "required": True, "fallback": (env_fallback, ["SKERRY_URL"])},
        "token": {"type": "str", "required": True, "no_log": True, "fallback": (env_fallback, ["SKERRY_TOKEN"])},
        "ca": {"type": "path", "fallback": (env_fallback, ["SKERRY_CA"])},
        "timeout": {"type": "int", "default": 600},
        "retry_for": {"type": "int", "default": 60},
    }


class Changes:
    """What was there before, and what was done or, in check mode, would be."""

    def __init__(self, check_mode):
        self.check_mode = check_mode
        self.before = None
        self.actions = []

    def began_with(self, state):
        """Only the first attempt counts: the others see what it has changed."""
        if self.before is None:
            self.before = state

    def make(self, words, action):
        result = None if self.check_mode else action()
        self.actions.append(words)
        return result


def run_module(options, attempt, **more):
    """
    Runs attempt(cloud, params, changes), which returns the state afterwards and the result. A conflict means that somebody else was
    faster: it is attempted again, unless the same conflict stays.
    """
    module = AnsibleModule(argument_spec={**connection_options(), **options}, supports_check_mode=True, **more)
    changes = Changes(module.check_mode)
    try:
        cloud = Cloud(*(module.params[each] for each in ("url", "token", "ca", "timeout", "retry_for")))
        after, result = until_no_conflict(lambda: attempt(cloud, module.params, changes))
    except CloudError as refused:
        about = {"status": refused.status, "code": refused.code, "request_id": refused.request_id}
        changed = bool(changes.actions) and not module.check_mode
        known = {key: value for key, value in about.items() if value is not None}
        module.fail_json(msg=refused.message, changed=changed, actions=changes.actions, **known)
    if changes.before is not None:
        result = {**result, "actions": changes.actions, "diff": {"before": changes.before, "after": after}}
    module.exit_json(changed=bool(changes.actions), **result)


def until_no_conflict(attempt):
    conflict = None
    for _count in range(CONFLICTS_MAX):
        try:
            return attempt()
        except CloudError as refused:
            if refused.status != 409 or refused.message == conflict:
                raise
            conflict = refused.message
    return attempt()
