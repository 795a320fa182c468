package cloud

// Reference names another resource.
type Reference struct {
	Href string `json:"href,omitempty"`
	ID   string `json:"id,omitempty"`
	Name string `json:"name,omitempty"`
}

// Link is an action that is possible now, or a resource above or below.
type Link struct {
	Rel  string `json:"rel"`
	Href string `json:"href"`
	Type string `json:"type"`
	Name string `json:"name"`
}

// Up is the id of the resource above.
func Up(links []Link) string {
	for _, link := range links {
		if link.Rel == "up" {
			return ID(link.Href)
		}
	}
	return ""
}

// Session is that of the token.
type Session struct {
	User string `json:"user"`
	Org  string `json:"org"`
	Link []Link `json:"link"`
}

// VApp is a group of VMs.
type VApp struct {
	Href     string `json:"href"`
	Name     string `json:"name"`
	Status   int    `json:"status"`
	Link     []Link `json:"link"`
	Tasks    *Tasks `json:"tasks"`
	Children *struct {
		VM []VM `json:"vm"`
	} `json:"children"`
}

// VMs are those in the vApp.
func (v *VApp) VMs() []VM {
	if v.Children == nil {
		return nil
	}
	return v.Children.VM
}

// States of a VM and of a vApp, as documents give them.
const (
	StatusOn  = 4
	StatusOff = 8
	// StatusUnknown: its host does not answer.
	StatusUnknown = 6
)

// VM is one of a vApp.
type VM struct {
	Href     string `json:"href"`
	Name     string `json:"name"`
	Status   int    `json:"status"`
	Tasks    *Tasks `json:"tasks"`
	Hardware *struct {
		Item []Item `json:"item"`
	} `json:"virtualHardwareSection"`
	Connections *Connections `json:"networkConnectionSection"`
}

// Kinds of hardware.
const (
	ItemCPUs   = 3
	ItemMemory = 4
	ItemDisk   = 17
)

// Item is an amount of hardware.
type Item struct {
	ResourceType    int   `json:"resourceType"`
	VirtualQuantity int64 `json:"virtualQuantity"`
}

// Amount is that of the hardware of this kind, 0 for none.
func (v *VM) Amount(kind int) int64 {
	if v.Hardware == nil {
		return 0
	}
	for _, item := range v.Hardware.Item {
		if item.ResourceType == kind {
			return item.VirtualQuantity
		}
	}
	return 0
}

// Connections are the network cards of a VM.
type Connections struct {
	Card []Connection `json:"networkConnection"`
}

// Connection is a network card.
type Connection struct {
	Network     string `json:"network"`
	Index       int64  `json:"networkConnectionIndex"`
	IPAddress   string `json:"ipAddress,omitempty"`
	IsConnected bool   `json:"isConnected"`
	MACAddress  string `json:"macAddress,omitempty"`
	Mode        string `json:"ipAddressAllocationMode"`
}

// Metadata are the labels of a VM or vApp.
type Metadata struct {
	Entry []MetadataEntry `json:"metadataEntry"`
}

// MetadataEntry is a label.
type MetadataEntry struct {
	Key        string        `json:"key"`
	TypedValue MetadataValue `json:"typedValue"`
}

// MetadataValue is a value with its kind. Value is text, a number or a boolean.
type MetadataValue struct {
	Kind  string `json:"kind"`
	Value any    `json:"value"`
}
