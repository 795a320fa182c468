# Copyright Skerry contributors
# Apache License, Version 2.0
# SPDX-License-Identifier: Apache-2.0
"""The metadata of a VM or vApp: read as text, written with types."""

from __future__ import annotations


def read_metadata(cloud, href):
    entries = cloud.get("%s/metadata" % href)["metadataEntry"]
    return {each["key"]: text_of((each.get("typedValue") or each).get("value", "")) for each in entries}


def text_of(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


def typed(value):
    if isinstance(value, bool):
        return {"kind": "MetadataBooleanValue", "value": value}
    if isinstance(value, int):
        return {"kind": "MetadataNumberValue", "value": value}
    return {"kind": "MetadataStringValue", "value": str(value)}


def ensure_metadata(cloud, changes, entity, wanted):
    """entity has href, name and metadata. Keys that are not wanted stay."""
    missing = {
        key: value for key, value in (wanted or {}).items() if entity["metadata"].get(key) != text_of(value)
    }
    if not missing:
        return
    body = {"metadataEntry": [{"key": key, "typedValue": typed(value)} for key, value in missing.items()]}
    changes.make(
        "set metadata %s of %s" % (", ".join(sorted(missing)), entity["name"]),
        lambda: cloud.wait(cloud.ask("POST", "%s/metadata" % entity["href"], body)),
    )
    entity["metadata"] = {**entity["metadata"], **{key: text_of(value) for key, value in missing.items()}}
