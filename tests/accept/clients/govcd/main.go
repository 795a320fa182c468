// What govcd does of a VM's life, or with "networks" as last argument, what it does with networks. Arguments: url, org, user, password;
// SSL_CERT_FILE names who vouches for the address.
package main

import (
	"fmt"
	"net/url"
	"os"

	govcd "github.com/hmrc/vmware-govcd"
	types "github.com/hmrc/vmware-govcd/types/v56"
)

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func same(found, expected any) {
	if found != expected {
		must(fmt.Errorf("%v is not %v", found, expected))
	}
}

func done(task govcd.Task, err error) {
	must(err)
	must(task.WaitTaskCompletion())
}

func status(vapp *govcd.VApp) string {
	must(vapp.Refresh())
	word, err := vapp.GetStatus()
	must(err)
	return word
}

func main() {
	address, org, user, password := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	endpoint, err := url.ParseRequestURI(address + "/api")
	must(err)
	client := govcd.NewVCDClient(*endpoint, false)
	home, vdc, err := client.Authenticate(user, password, org, "")
	must(err)
	same(home.Org.Name, org)

	if len(os.Args) > 5 && os.Args[5] == "networks" {
		useNetworks(client, home, &vdc)
	} else {
		useVM(client, home, vdc)
	}
	must(client.Disconnect())
}

func useVM(client *govcd.VCDClient, home govcd.Org, vdc govcd.Vdc) {
	template := templateOf(home)
	must(vdc.InstantiateVAppTemplate(&types.InstantiateVAppTemplateParams{
		Ovf:    "http://schemas.dmtf.org/ovf/envelope/1",
		Xmlns:  "http://www.vmware.com/vcloud/v1.5",
		Name:   "web",
		Source: &types.Reference{HREF: template.VAppTemplate.HREF},
	}))
	must(vdc.Refresh())
	vapp, err := vdc.FindVAppByName("web")
	must(err)
	same(status(&vapp), "POWERED_OFF")

	done(vapp.ChangeCPUcount(2))
	done(vapp.ChangeMemorySize(256))
	done(vapp.PowerOn())
	same(status(&vapp), "POWERED_ON")
	results, err := client.Query(map[string]string{"type": "vm", "filter": "status==POWERED_ON"})
	must(err)
	same(len(results.Results.VMRecord), 1)
	same(results.Results.VMRecord[0].Name, "small")

	done(vapp.AddMetadata("purpose", "trial"))
	done(vapp.Suspend())
	same(status(&vapp), "SUSPENDED")
	done(vapp.PowerOn())
	done(vapp.Reset())
	done(vapp.Undeploy())
	same(status(&vapp), "POWERED_OFF")
	done(vapp.Delete())
}

func templateOf(home govcd.Org) govcd.VAppTemplate {
	catalog, err := home.FindCatalog(catalogOf(home))
	must(err)
	item, err := catalog.FindCatalogItem("small")
	must(err)
	template, err := item.GetVAppTemplate()
	must(err)
	return template
}

func catalogOf(home govcd.Org) string {
	for _, link := range home.Org.Link {
		if link.Rel == "down" && link.Type == "application/vnd.vmware.vcloud.catalog+xml" {
			return link.Name
		}
	}
	must(fmt.Errorf("%s has no catalogue", home.Org.Name))
	return ""
}
