package provider

import (
	"skerry.example/terraform-provider-skerry/internal/cloud"
)

type edgeDocument struct {
	Href          string            `json:"href,omitempty"`
	Name          string            `json:"name,omitempty"`
	Description   *string           `json:"description,omitempty"`
	Link          []cloud.Link      `json:"link,omitempty"`
	Tasks         *cloud.Tasks      `json:"tasks,omitempty"`
	Configuration edgeConfiguration `json:"configuration"`
}

type edgeConfiguration struct {
	Interfaces *edgeInterfaces `json:"gatewayInterfaces,omitempty"`
	Services   *edgeServices   `json:"edgeGatewayServiceConfiguration,omitempty"`
}

type edgeInterfaces struct {
	Interface []edgeInterface `json:"gatewayInterface"`
}

type edgeInterface struct {
	Network cloud.Reference `json:"network"`
	Type    string          `json:"interfaceType"`
	Subnet  *struct {
		IPAddress string `json:"ipAddress"`
	} `json:"subnetParticipation,omitempty"`
}

const uplink = "uplink"

func (d edgeDocument) uplink() edgeInterface {
	if d.Configuration.Interfaces != nil {
		for _, each := range d.Configuration.Interfaces.Interface {
			if each.Type == uplink {
				return each
			}
		}
	}
	return edgeInterface{}
}

type edgeServices struct {
	Firewall *firewallService `json:"firewallService,omitempty"`
	Nat      *natService      `json:"natService,omitempty"`
	Routing  *routingService  `json:"staticRoutingService,omitempty"`
}

type firewallService struct {
	IsEnabled     bool           `json:"isEnabled"`
	DefaultAction string         `json:"defaultAction"`
	Rule          []firewallRule `json:"firewallRule"`
}

type firewallRule struct {
	IsEnabled       bool          `json:"isEnabled"`
	Description     string        `json:"description"`
	Policy          string        `json:"policy,omitempty"`
	Protocols       ruleProtocols `json:"protocols"`
	DestinationPort string        `json:"destinationPortRange,omitempty"`
	DestinationIP   string        `json:"destinationIp,omitempty"`
	SourcePort      string        `json:"sourcePortRange,omitempty"`
	SourceIP        string        `json:"sourceIp,omitempty"`
	Direction       string        `json:"direction,omitempty"`
}

type ruleProtocols struct {
	ICMP bool `json:"icmp,omitempty"`
	Any  bool `json:"any,omitempty"`
	TCP  bool `json:"tcp,omitempty"`
	UDP  bool `json:"udp,omitempty"`
}

type natService struct {
	Rule []natRule `json:"natRule"`
}

type natRule struct {
	Description string  `json:"description,omitempty"`
	RuleType    string  `json:"ruleType"`
	IsEnabled   bool    `json:"isEnabled"`
	Translation natPair `json:"gatewayNatRule"`
}

type natPair struct {
	OriginalIP     string `json:"originalIp"`
	OriginalPort   string `json:"originalPort,omitempty"`
	TranslatedIP   string `json:"translatedIp"`
	TranslatedPort string `json:"translatedPort,omitempty"`
	Protocol       string `json:"protocol,omitempty"`
}

type routingService struct {
	Route []staticRoute `json:"staticRoute"`
}

type staticRoute struct {
	Name      string `json:"name,omitempty"`
	Network   string `json:"network"`
	NextHopIP string `json:"nextHopIp"`
}
