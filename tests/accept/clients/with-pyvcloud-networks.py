"""What pyvcloud does with networks, as an administrator of an organisation. Arguments: url, ca, org, user, password."""
import sys

from pyvcloud.vcd.client import BasicLoginCredentials, Client, E, EntityType
from pyvcloud.vcd.gateway import Gateway
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

[found] = vdc.list_edge_gateways()
same((found['name'], vdc.get_gateway('default').get('href')), ('default', found['href']))
gateway = Gateway(client, href=found['href'])
[[outside]] = gateway.list_external_network_ip_allocations().values()


def translate(*rules):
    """Its own add_nat_rule is for gateways of a later API, at another address."""
    service = E.NatService(E.IsEnabled('true'), *rules)
    done(
        client.post_resource(
            f'{gateway.href}/action/configureServices',
            E.EdgeGatewayServiceConfiguration(service),
            EntityType.EDGE_GATEWAY_SERVICE_CONFIGURATION.value,
        )
    )
    gateway.reload()
    service = gateway.get_resource().Configuration.EdgeGatewayServiceConfiguration.NatService
    return service.findall('{*}NatRule')


def forwarded(port, to):
    return E.NatRule(
        E.RuleType('DNAT'),
        E.IsEnabled('true'),
        E.GatewayNatRule(
            E.OriginalIp(outside),
            E.OriginalPort(port),
            E.TranslatedIp('10.30.0.7'),
            E.TranslatedPort(to),
            E.Protocol('tcp'),
        ),
    )


[rule] = translate(forwarded('443', '8443'))
same((rule.RuleType, rule.GatewayNatRule.TranslatedPort), ('DNAT', 8443))
number = rule.Id.text
[kept, other] = translate(rule, forwarded('80', '8080'))
same((kept.Id.text, other.GatewayNatRule.OriginalPort), (number, 80))
same(translate(), [])

done(vdc.delete_vapp('web'))
done(vdc.delete_isolated_orgvdc_network('inner'))
same([each['name'] for each in vdc.list_orgvdc_network_records()], ['backend'])
client.logout()
