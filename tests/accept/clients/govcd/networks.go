package main

import (
	"strings"

	govcd "github.com/hmrc/vmware-govcd"
	types "github.com/hmrc/vmware-govcd/types/v56"
)

// What govcd does with networks, as an administrator of an organisation.
func useNetworks(client *govcd.VCDClient, home govcd.Org, vdc *govcd.Vdc) {
	must(vdc.CreateOrgVDCNetwork(&types.OrgVDCNetwork{
		Xmlns: "http://www.vmware.com/vcloud/v1.5",
		Name:  "inner",
		Configuration: &types.NetworkConfiguration{
			FenceMode: "isolated",
			IPScopes: &types.IPScopes{
				IPScope: types.IPScope{Gateway: "10.20.0.1", Netmask: "255.255.255.0"},
			},
		},
	}))
	must(vdc.Refresh())
	same(names(vdc), "backend inner")
	backend, err := vdc.FindVDCNetwork("backend")
	must(err)
	same(backend.OrgVDCNetwork.Configuration.FenceMode, "natRouted")

	vapp := onNetwork(client, home, vdc, backend)
	card := vapp.VApp.Children.VM[0].NetworkConnectionSection.NetworkConnection
	same(card.Network, "backend")
	done(vapp.ChangeNetworkConfig("inner", "10.20.0.7"))
	must(vapp.Refresh())
	card = vapp.VApp.Children.VM[0].NetworkConnectionSection.NetworkConnection
	same(card.Network, "inner")
	same(card.IPAddress, "10.20.0.7")

	useEdgeGateway(vdc)
	done(vapp.Delete())
	inner, err := vdc.FindVDCNetwork("inner")
	must(err)
	done(inner.Delete())
}

// A new vApp whose VM is on that network. It stays off.
func onNetwork(client *govcd.VCDClient, home govcd.Org, vdc *govcd.Vdc, network govcd.OrgVDCNetwork) govcd.VApp {
	template := templateOf(home)
	composed := govcd.NewVApp(&client.Client)
	done(composed.ComposeVApp(network, template, "web", "on a network"))
	vapp, err := vdc.FindVAppByName("web")
	must(err)
	return vapp
}

func names(vdc *govcd.Vdc) string {
	all := []string{}
	for _, list := range vdc.Vdc.AvailableNetworks {
		for _, network := range list.Network {
			all = append(all, network.Name)
		}
	}
	return strings.Join(all, " ")
}

// Forwards ports of the gateway's own address, and lets packets in.
func useEdgeGateway(vdc *govcd.Vdc) {
	edge, err := vdc.FindEdgeGateway("default")
	must(err)
	same(edge.EdgeGateway.Name, "default")
	outside := ""
	for _, each := range edge.EdgeGateway.Configuration.GatewayInterfaces.GatewayInterface {
		if each.InterfaceType == "uplink" {
			outside = each.SubnetParticipation.IPAddress
		}
	}
	done(edge.AddNATMapping("DNAT", outside, "10.30.0.7", "443"))
	must(edge.Refresh())
	done(edge.AddNATMapping("DNAT", outside, "10.30.0.8", "80"))
	must(edge.Refresh())
	same(ports(edge), "DNAT 443, DNAT 80")
	done(edge.RemoveNATMapping("DNAT", outside, "10.30.0.7", "443"))
	done(edge.CreateFirewallRules("drop", []*types.FirewallRule{{
		IsEnabled:            true,
		Description:          "web",
		Policy:               "allow",
		Protocols:            &types.FirewallRuleProtocols{TCP: true},
		DestinationPortRange: "80",
		DestinationIP:        "10.30.0.8",
		SourcePortRange:      "Any",
		SourceIP:             "Any",
	}}))
	must(edge.Refresh())
	same(ports(edge), "DNAT 80")
	services := edge.EdgeGateway.Configuration.EdgeGatewayServiceConfiguration
	same(len(services.FirewallService.FirewallRule), 1)
	same(services.FirewallService.FirewallRule[0].DestinationIP, "10.30.0.8")
	done(edge.RemoveNATMapping("DNAT", outside, "10.30.0.8", "80"))
}

// Kind and port of each rule.
func ports(edge govcd.EdgeGateway) string {
	all := []string{}
	rules := edge.EdgeGateway.Configuration.EdgeGatewayServiceConfiguration.NatService.NatRule
	for _, rule := range rules {
		all = append(all, rule.RuleType+" "+rule.GatewayNatRule.OriginalPort)
	}
	return strings.Join(all, ", ")
}
