# Copyright Skerry contributors
# Apache License, Version 2.0
# SPDX-License-Identifier: Apache-2.0
"""The power of a VM or of the VMs of a vApp."""

from __future__ import annotations

from ansible_collections.skerry.cloud.plugins.module_utils.client import CloudError

POWER_OPTIONS = {
    "stop_by": {"type": "str", "choices": ["shutdown", "power_off"], "default": "shutdown"},
    "force": {"type": "bool", "default": False},
}
# The path of the action, by the value of the option.
STOPS = {"shutdown": "shutdown", "power_off": "powerOff"}


def act(cloud, entity, path):
    cloud.wait(cloud.ask("POST", "%s/%s" % (entity["href"], path)))


def start(cloud, changes, entity):
    changes.make("start %s" % entity["name"], lambda: act(cloud, entity, "power/action/powerOn"))
    entity["status"] = "POWERED_ON"


def stop(cloud, changes, entity, params):
    if entity["status"] == "SUSPENDED":
        if not params["force"]:
            raise CloudError("%s is suspended: start it first, or discard its memory with force: true" % entity["name"])
        words, path = "discard the memory of %s", "action/discardSuspendedState"
    else:
        words, path = "stop %s", "power/action/%s" % STOPS[params["stop_by"]]
    changes.make(words % entity["name"], lambda: act(cloud, entity, path))
    entity["status"] = "POWERED_OFF"


def require_off(cloud, changes, entity, params, purpose):
    """Stops what is on, if force allows it. Returns whether it was on."""
    if entity["status"] in ("POWERED_OFF", "RESOLVED"):
        return False
    if not params["force"]:
        raise CloudError(
            "%s is %s, and must be off for %s: stop it first, or allow that with force: true"
            % (entity["name"], entity["status"], purpose)
        )
    was_on = entity["status"] in ("POWERED_ON", "MIXED")
    stop(cloud, changes, entity, params)
    return was_on
