"""What pyvcloud does of a VM's life, called as its own documentation calls it. Arguments: url, ca, org, user, password."""
import sys

from pyvcloud.vcd.client import BasicLoginCredentials, Client, QueryResultFormat
from pyvcloud.vcd.exceptions import AccessForbiddenException, BadRequestException
from pyvcloud.vcd.org import Org
from pyvcloud.vcd.vapp import VApp
from pyvcloud.vcd.vdc import VDC
from pyvcloud.vcd.vm import VM

RASD = '{http://schemas.dmtf.org/wbem/wscim/1/cim-schema/2/CIM_ResourceAllocationSettingData}'
url, ca, org_name, user, password = sys.argv[1:]


def same(found, expected):
    assert found == expected, f'{found!r} is not {expected!r}'


client = Client(url, api_version='5.1', verify_ssl_certs=ca)
client.set_credentials(BasicLoginCredentials(user, org_name, password))
monitor = client.get_task_monitor()


def done(task):
    """Looks every second: answers are a matter of milliseconds, boots are not waited for."""
    monitor.wait_for_success(task, timeout=180, poll_frequency=1)


org = Org(client, resource=client.get_org())
same(org.get_name(), org_name)
[vdc_name] = [each['name'] for each in org.list_vdcs()]
vdc = VDC(client, resource=org.get_vdc(vdc_name))
[catalog] = [each['name'] for each in org.list_catalogs()]
same([each['name'] for each in org.list_catalog_items(catalog)], ['small'])

made = vdc.instantiate_vapp('web', catalog, 'small', power_on=False, deploy=False)
done(made.Tasks.Task[0])
vdc.reload()
assert {'name': 'web', 'type': 'application/vnd.vmware.vcloud.vApp+xml'} in vdc.list_resources()
vapp = VApp(client, resource=vdc.get_vapp('web'))
vm = VM(client, resource=vapp.get_all_vms()[0])

done(vm.enable_nested_hypervisor())
for part, change, quantity in (('cpu', vm.modify_cpu, 2), ('memory', vm.modify_memory, 256)):
    done(change(quantity))
    item = client.get_resource(f'{vm.href}/virtualHardwareSection/{part}')
    same(int(item[RASD + 'VirtualQuantity']), quantity)

done(vapp.power_on())
vapp.reload()
vm.reload()
same(vm.get_power_state(), 4)
found = client.get_typed_query(
    'vm', QueryResultFormat.RECORDS, qfilter='status==POWERED_ON'
).execute()
same([(each.get('name'), each.get('containerName')) for each in found], [('small', 'web')])
assert vm.list_screen_ticket()['ScreenTicket'].startswith('mks://')
try:
    vdc.delete_vapp('web')
    raise AssertionError('what runs was deleted')
except BadRequestException:
    pass

done(vm.snapshot_create(memory=True, quiesce=False))
vm.reload()
done(vm.snapshot_revert_to_current())
vm.reload()
done(vm.snapshot_remove_all())
done(vapp.set_metadata('GENERAL', 'READWRITE', 'purpose', 'trial'))
same(vapp.get_metadata().MetadataEntry.TypedValue.Value, 'trial')

vapp.reload()
done(vapp.undeploy())
done(vapp.edit_name_and_description('web-2', 'was web'))
done(vdc.delete_vapp('web-2'))
try:
    client.get_resource(vapp.href)
    raise AssertionError('what was deleted is still there')
except AccessForbiddenException:
    pass
client.logout()
