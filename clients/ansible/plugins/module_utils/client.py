# Copyright Skerry contributors
# Apache License, Version 2.0
# SPDX-License-Identifier: Apache-2.0
"""A client of the cloud API in JSON: requests that are safe to repeat, tasks, queries."""

from __future__ import annotations

import http.client
import json
import re
import socket
import ssl
import time
import uuid
from urllib import error, parse, request

# The maximum of the query service.
PAGE_SIZE = 128
REQUEST_SECONDS = 30
FIRST_PAUSE = 0.1
SLOWER = 1.5
LONGEST_PAUSE = 2
# A server that cannot answer now. 504 may still complete, and the key makes its repetition the same request.
PASSING = (429, 502, 503, 504)
OPEN = ("queued", "running")


class CloudError(Exception):
    """An error of the cloud, in its own words."""

    def __init__(self, message, status=None, code=None, request_id=None, retry_after=None, passes=False):
        super().__init__(message)
        self.message = message
        self.status = status
        self.code = code
        self.request_id = request_id
        self.retry_after = retry_after
        self.passes = passes


class NoRedirects(request.HTTPRedirectHandler):
    """The token must not reach another server."""

    def redirect_request(self, req, fp, code, msg, headers, newurl):
        return None


class Cloud:
    def __init__(self, url, token, ca=None, timeout=600, retry_for=60):
        parts = parse.urlsplit(url)
        if parts.scheme != "https" or not parts.netloc:
            raise CloudError("url must be an address such as https://cloud.example, not %s" % url)
        self.origin = "https://%s" % parts.netloc
        self.token = token
        self.timeout = timeout
        self.retry_for = retry_for
        try:
            context = ssl.create_default_context(cafile=ca)
        except (OSError, ssl.SSLError) as cause:
            raise CloudError("the certificate in %s cannot be read: %s" % (ca, cause)) from cause
        self.opener = request.build_opener(request.HTTPSHandler(context=context), NoRedirects())

    def get(self, address):
        return self.ask("GET", address)

    def find(self, address):
        """The document, or None if there is none."""
        try:
            return self.get(address)
        except CloudError as refused:
            if refused.status == 404:
                return None
            raise

    def ask(self, method, address, body=None):
        """Sends a request, and repeats it while the cloud cannot answer. Its key makes the repetition the same request."""
        headers = {"Accept": "application/json", "Authorization": "Bearer %s" % self.token}
        data = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            data = json.dumps(body).encode()
        if method != "GET":
            headers["Idempotency-Key"] = str(uuid.uuid4())
        until = time.monotonic() + self.retry_for
        pause = FIRST_PAUSE
        while True:
            try:
                return self._send(method, self.origin + path_of(address), headers, data)
            except CloudError as refused:
                # A conflict passes only if the cloud says when: all others need another request.
                passes = refused.passes or (refused.status == 409 and refused.retry_after is not None)
                delay = pause if refused.retry_after is None else refused.retry_after
                if not passes or time.monotonic() + delay > until:
                    raise
            time.sleep(delay)
            pause = min(pause * SLOWER, LONGEST_PAUSE)

    def _send(self, method, url, headers, data):
        # Without this header urllib sends the type of a form.
        sent = request.Request(url, data=data, headers=headers, method=method)
        try:
            with self.opener.open(sent, timeout=REQUEST_SECONDS) as response:
                text = response.read()
            return json.loads(text) if text else None
        except error.HTTPError as refused:
            raise refusal(refused) from refused
        except ssl.SSLCertVerificationError as cause:
            raise untrusted(self.origin, cause) from cause
        except error.URLError as cause:
            if isinstance(cause.reason, ssl.SSLCertVerificationError):
                raise untrusted(self.origin, cause.reason) from cause
            if isinstance(cause.reason, socket.gaierror):
                raise CloudError("the host of %s is not known: check url" % self.origin) from cause
            raise unreachable(self.origin, cause.reason) from cause
        except (OSError, http.client.HTTPException) as cause:
            raise unreachable(self.origin, cause) from cause
        except ValueError as cause:
            raise CloudError("%s does not answer in JSON: check that url is the address of a cloud" % self.origin) from cause

    def wait(self, document):
        """Waits until the task, or all tasks of the document, have ended. A failed one is an error."""
        for task in tasks_in(document):
            self._wait(task)

    def settle(self, document):
        """Waits for the tasks that others have begun, however they end."""
        for task in tasks_in(document):
            try:
                self._wait(task)
            except TaskFailed:
                continue

    def _wait(self, task):
        until = time.monotonic() + self.timeout
        pause = FIRST_PAUSE
        while task["status"] in OPEN:
            if time.monotonic() > until:
                waiting = (task.get("waiting") or {}).get("message")
                raise CloudError(
                    "%s: not done after %d s%s; it continues, and a larger timeout waits longer: %s"
                    % (task["operation"], self.timeout, ", waits for %s" % waiting if waiting else "", task["href"])
                )
            time.sleep(pause)
            pause = min(pause * SLOWER, LONGEST_PAUSE)
            task = self.get(task["href"])
        if task["status"] != "success":
            raise TaskFailed(task)

    def query(self, kind, conditions=None, limit=None, **more):
        """All records of a type whose attributes have these values; with limit, the first ones."""
        given = dict(more)
        if conditions:
            given["filter"] = ";".join("%s==%s" % (key, escaped(value)) for key, value in conditions.items())
        size = PAGE_SIZE if limit is None else max(1, min(limit, PAGE_SIZE))
        address = "/api/query?%s" % parse.urlencode({"type": kind, "format": "records", "pageSize": size, **given})
        records = []
        while address is not None and (limit is None or len(records) < limit):
            page = self.get(address)
            records += next((found for key, found in page.items() if key.endswith("Record") and found), [])
            address = link(page, "nextPage")
        return records if limit is None else records[:limit]


class TaskFailed(CloudError):
    def __init__(self, task):
        failure = task.get("error") or {}
        words = failure.get("message") or "the task ended as %s" % task["status"]
        super().__init__(
            "%s: %s" % (task["operation"], words), failure.get("majorErrorCode"), failure.get("minorErrorCode")
        )


def path_of(address):
    """Only the path: the token goes to the configured cloud alone."""
    parts = parse.urlsplit(address)
    return parts.path + ("?%s" % parts.query if parts.query else "")


def link(document, rel, kind=""):
    return next((each["href"] for each in document["link"] if each["rel"] == rel and kind in each.get("type", "")), None)


def tasks_in(document):
    if document is None:
        return []
    if "operationName" in document:
        return [document]
    return (document.get("tasks") or {}).get("task", [])


def id_of(href):
    return href.rsplit("/", 1)[1]


def escaped(value):
    """A value in a filter: what has a meaning there has a backslash before it."""
    return re.sub(r"([\\*(),;])", r"\\\1", str(value))


def refusal(refused):
    text = refused.read()
    try:
        found = json.loads(text)
        message, code = found["message"], found.get("minorErrorCode")
    except (ValueError, KeyError, TypeError):
        message, code = "%d %s" % (refused.code, refused.reason), None
    seconds = refused.headers.get("Retry-After", "")
    return CloudError(
        message,
        refused.code,
        code,
        refused.headers.get("x-request-id"),
        int(seconds) if seconds.isdigit() else None,
        refused.code in PASSING,
    )


def unreachable(origin, cause):
    return CloudError("%s cannot be reached: %s; check url and the network" % (origin, cause), passes=True)


def untrusted(origin, cause):
    words = getattr(cause, "verify_message", None) or cause
    return CloudError("the certificate of %s is not trusted (%s): name its issuer with ca" % (origin, words))
