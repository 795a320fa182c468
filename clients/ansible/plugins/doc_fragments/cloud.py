# Copyright Skerry contributors
# Apache License, Version 2.0
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  url:
    description: Address of the cloud, such as V(https://cloud.example). Default is the environment variable E(SKERRY_URL).
    type: str
    required: true
  token:
    description: An API token of the user, which begins with V(skat_). Default is the environment variable E(SKERRY_TOKEN).
    type: str
    required: true
  ca:
    description:
      - File with the certificate of the cloud's issuer, if the machine does not trust it already.
      - Default is the environment variable E(SKERRY_CA).
    type: path
  timeout:
    description: Seconds to wait for a task of the cloud. The task continues afterwards.
    type: int
    default: 600
  retry_for:
    description: Seconds during which a request is repeated that the cloud cannot answer now (no connection, 429, 502, 503, 504).
    type: int
    default: 60
requirements:
  - Python 3.8 or newer; its standard library is enough
author:
  - Skerry (@skerry)
"""
