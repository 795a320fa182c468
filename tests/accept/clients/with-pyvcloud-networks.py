"""What pyvcloud does with networks, as an administrator of an organisation. Arguments: url, ca, org, user, password."""
import sys

from pyvcloud.vcd.client import BasicLoginCredentials, Client
from pyvcloud.vcd.org import Org
from pyvcloud.vcd.vapp import VApp
from pyvcloud.vcd.vdc import VDC

url, ca, org_name, user, password = sys.argv[1:]


def same(found, expected):
    assert found == expected, f'{found!r} is not {expected!r}'


client = Client(url, api_version='5.1', verify_ssl_certs=ca)
client.set_credentials(BasicLoginCredentials(user, org_name, password))
monitor = client.get_task_monitor()


def done(task):
    monitor.wait_for_success(task, timeout=180, poll_frequency=1)


org = Org(client, resource=client.get_org())
vdc = VDC(client, resource=org.get_vdc('main'))
made = vdc.create_isolated_vdc_network(
    'inner', '10.20.0.1/24', ip_range_start='10.20.0.100', ip_range_end='10.20.0.199'
)
done(made.Tasks.Task[0])
same([each['name'] for each in vdc.list_orgvdc_network_records()], ['backend', 'inner'])
same([each.get('name') for each in vdc.list_orgvdc_isolated_networks()], ['inner'])
same([each.get('name') for each in vdc.list_orgvdc_routed_networks()], ['backend'])

vdc.reload()
made = vdc.instantiate_vapp(
    'web',
    'main',
    'small',
    network='backend',
    ip_allocation_mode='manual',
    ip_address='10.30.0.7',
    deploy=False,
    power_on=False,
)
done(made.Tasks.Task[0])
vdc.reload()
vapp = VApp(client, resource=vdc.get_vapp('web'))
[card] = vapp.get_all_vms()[0].NetworkConnectionSection.NetworkConnection
same((card.get('network'), card.IpAddress), ('backend', '10.30.0.7'))

done(vdc.delete_vapp('web'))
done(vdc.delete_isolated_orgvdc_network('inner'))
same([each['name'] for each in vdc.list_orgvdc_network_records()], ['backend'])
client.logout()
