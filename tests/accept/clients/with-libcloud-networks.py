"""What a driver of libcloud does with networks. Arguments: url, ca, org, user, password, version of the API."""
import sys
from urllib.parse import urlsplit

import libcloud.security
from libcloud.compute.providers import get_driver
from libcloud.compute.types import Provider

url, ca, org, user, password, version = sys.argv[1:]
libcloud.security.CA_CERTS_PATH = ca


def same(found, expected):
    assert found == expected, f'{found!r} is not {expected!r}'


at = urlsplit(url)
driver = get_driver(Provider.VCLOUD)(
    f'{user}@{org}', password, host=at.hostname, port=at.port, api_version=version
)
same([each.get('name') for each in driver.networks], ['backend'])
[image] = [each for each in driver.list_images() if each.name == 'small']
node = driver.create_node(
    name='web', image=image, ex_network='backend', ex_vm_ipmode='POOL', ex_deploy=False
)
[vm] = node.extra['vms']
[address] = vm['private_ips']
assert address.startswith('10.30.0.'), address
assert driver.destroy_node(node)
