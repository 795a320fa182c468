package main

import (
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
	all := ""
	for _, list := range vdc.Vdc.AvailableNetworks {
		for _, network := range list.Network {
			if all != "" {
				all += " "
			}
			all += network.Name
		}
	}
	return all
}
