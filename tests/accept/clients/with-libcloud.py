"""What a driver of libcloud does of a VM's life. Arguments: url, ca, org, user, password, version of the API."""
import sys
from urllib.parse import urlsplit

import libcloud.security
from libcloud.compute.providers import get_driver
from libcloud.compute.types import NodeState, Provider

url, ca, org, user, password, version = sys.argv[1:]
libcloud.security.CA_CERTS_PATH = ca


def same(found, expected):
    assert found == expected, f'{found!r} is not {expected!r}'


at = urlsplit(url)
driver = get_driver(Provider.VCLOUD)(
    f'{user}@{org}', password, host=at.hostname, port=at.port, api_version=version
)
same([each.name for each in driver.list_nodes()], [])
[image] = [each for each in driver.list_images() if each.name == 'small']
node = driver.create_node(name='web', image=image)
same([(each.name, each.state) for each in driver.list_nodes()], [('web', NodeState.RUNNING)])
[vm] = node.extra['vms']
found = driver.ex_query('vm', filter='status==POWERED_ON')
same([(each['name'], each['containerName']) for each in found], [('small', 'web')])

if version == '5.5':
    assert driver.ex_acquire_mks_ticket(vm['id'])['ticket']
    node = driver.ex_create_snapshot(node)
    node = driver.ex_revert_to_snapshot(node)
    node = driver.ex_remove_snapshots(node)
    node = driver.ex_power_on_node(node)
driver.ex_set_metadata_entry(node, 'purpose', 'trial')
if version == '1.5':
    # From 5.1 on values have types, in elements that these drivers do not read.
    same(driver.ex_get_metadata(node), {'purpose': 'trial'})
    node = driver.ex_suspend_node(node)
    same(node.state, NodeState.PENDING)  # its word for what is suspended
    node = driver.ex_power_on_node(node)
    assert driver.reboot_node(node)
node = driver.ex_power_off_node(node)
same(node.state, NodeState.STOPPED)
driver.ex_set_vm_cpu(vm['id'], 2)
driver.ex_set_vm_memory(vm['id'], 512)
assert driver.destroy_node(node)
