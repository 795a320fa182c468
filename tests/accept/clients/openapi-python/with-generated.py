"""What a client that openapi-python-client generated does: it logs in, lists the VMs, powers one on, follows the task and reads the VM.
Arguments: url, CA file, organisation, user, password."""
import base64
import importlib
import pkgutil
import ssl
import sys
import time

import cloud
from cloud import AuthenticatedClient
from cloud.api.queries import query_vms
from cloud.api.sessions import create_session, delete_session, read_session
from cloud.api.tasks_and_events import read_task
from cloud.api.virtual_machines import power_on, read_entity
from cloud.models import Error, Session, Task, TaskStatus, Vm, VMRecordStatus

LOOK_S = 0.5

url, ca, org, user, password = sys.argv[1:]
for module in pkgutil.walk_packages(cloud.__path__, 'cloud.'):
    importlib.import_module(module.name)


def client(prefix, credentials):
    return AuthenticatedClient(
        base_url=url,
        token=credentials,
        prefix=prefix,
        headers={'Accept': 'application/json'},
        verify_ssl=ssl.create_default_context(cafile=ca),
    )


def last(href):
    return href.rsplit('/', 1)[1]


refused = create_session.sync(
    client=client('Basic', base64.b64encode(f'{user}@{org}:wrong'.encode()).decode())
)
assert isinstance(refused, Error) and refused.major_error_code == 401, refused

login = base64.b64encode(f'{user}@{org}:{password}'.encode()).decode()
created = create_session.sync_detailed(client=client('Basic', login))
assert created.status_code == 200, created.content
api = client('Bearer', created.headers['x-cloud-authorization'])
session = read_session.sync(client=api)
assert isinstance(session, Session) and (session.user, session.org) == (user, org), session

listed = query_vms.sync(client=api, filter_='status==POWERED_OFF')
assert listed.total == 1, listed
[record] = listed.vm_record
assert record.status == VMRecordStatus.POWERED_OFF and record.vdc_name == 'main', record

task = power_on.sync(client=api, entity=last(record.href), idempotency_key='once')
again = power_on.sync(client=api, entity=last(record.href), idempotency_key='once')
assert isinstance(task, Task) and task.href == again.href, (task, again)
while task.status in (TaskStatus.QUEUED, TaskStatus.RUNNING):
    time.sleep(LOOK_S)
    task = read_task.sync(client=api, task=last(task.href))
assert task.status == TaskStatus.SUCCESS, task

vm = read_entity.sync(client=api, entity=last(record.href))
assert isinstance(vm, Vm), vm
assert {'power:powerOff', 'screen:acquireTicket'} <= {link.rel for link in vm.link}, vm.link
[running] = query_vms.sync(client=api, filter_='status==POWERED_ON').vm_record
print(running.name, running.status)
assert delete_session.sync_detailed(client=api).status_code == 204
