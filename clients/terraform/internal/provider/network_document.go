package provider

import (
	"skerry.example/terraform-provider-skerry/internal/cloud"
)

// A network of a vdc, or an external one.
type networkDocument struct {
	Href          string               `json:"href,omitempty"`
	Name          string               `json:"name"`
	Description   *string              `json:"description,omitempty"`
	Link          []cloud.Link         `json:"link,omitempty"`
	Tasks         *cloud.Tasks         `json:"tasks,omitempty"`
	Configuration networkConfiguration `json:"configuration"`
	EdgeGateway   *cloud.Reference     `json:"edgeGateway,omitempty"`
	IsShared      *bool                `json:"isShared,omitempty"`
	IsIpv6Enabled *bool                `json:"isIpv6Enabled,omitempty"`
	Ipv6Prefix    string               `json:"ipv6Prefix,omitempty"`
}

type networkConfiguration struct {
	IPScopes      *ipScopes        `json:"ipScopes,omitempty"`
	ParentNetwork *cloud.Reference `json:"parentNetwork,omitempty"`
	FenceMode     string           `json:"fenceMode,omitempty"`
}

type ipScopes struct {
	IPScope ipScope `json:"ipScope"`
}

type ipScope struct {
	Gateway   string    `json:"gateway"`
	Netmask   string    `json:"netmask"`
	DNS1      *string   `json:"dns1,omitempty"`
	DNS2      *string   `json:"dns2,omitempty"`
	DNSSuffix *string   `json:"dnsSuffix,omitempty"`
	IPRanges  *ipRanges `json:"ipRanges,omitempty"`
}

type ipRanges struct {
	IPRange []ipRange `json:"ipRange"`
}

type ipRange struct {
	StartAddress string `json:"startAddress"`
	EndAddress   string `json:"endAddress"`
}

func (c networkConfiguration) scope() ipScope {
	if c.IPScopes == nil {
		return ipScope{}
	}
	return c.IPScopes.IPScope
}
