package provider

import (
	"context"
	"net/http"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"skerry.example/terraform-provider-skerry/internal/cloud"
)

// A network card as a resource has it.
type card struct {
	Network   types.String `tfsdk:"network"`
	Mode      types.String `tfsdk:"mode"`
	Address   types.String `tfsdk:"address"`
	Connected types.Bool   `tfsdk:"connected"`
	MAC       types.String `tfsdk:"mac"`
}

const manual = "MANUAL"

var cardType = types.ObjectType{AttrTypes: map[string]attr.Type{
	"network":   types.StringType,
	"mode":      types.StringType,
	"address":   types.StringType,
	"connected": types.BoolType,
	"mac":       types.StringType,
}}

func cardsAttribute(modifiers []planmodifier.List) schema.ListNestedAttribute {
	return schema.ListNestedAttribute{
		Optional:      true,
		Computed:      true,
		PlanModifiers: modifiers,
		Description:   "Its network cards, at most ten. Default: one on the default network of the vdc.",
		NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
			"network": schema.StringAttribute{Required: true, Description: "The name of a network of the vdc."},
			"mode": schema.StringAttribute{
				Optional:    true,
				Computed:    true,
				Default:     stringdefault.StaticString("POOL"),
				Description: "POOL or DHCP: the cloud chooses the address. MANUAL: address is it. NONE: the card has none.",
			},
			"address": schema.StringAttribute{Optional: true, Computed: true, Description: "The IPv4 address. Only MANUAL sets it."},
			"connected": schema.BoolAttribute{
				Optional:    true,
				Computed:    true,
				Default:     booldefault.StaticBool(true),
				Description: "Whether the cable is plugged in. It may change while the VM runs.",
			},
			"mac": schema.StringAttribute{Computed: true, Description: "The MAC address, which the cloud gives."},
		}},
	}
}

// The wanted cards; nil: the resource leaves them to the cloud.
func cardsIn(ctx context.Context, list types.List, to *diag.Diagnostics) []cloud.Connection {
	if list.IsNull() || list.IsUnknown() {
		return nil
	}
	var cards []card
	to.Append(list.ElementsAs(ctx, &cards, false)...)
	wanted := make([]cloud.Connection, 0, len(cards))
	for index, each := range cards {
		connection := cloud.Connection{
			Network:     each.Network.ValueString(),
			Index:       int64(index),
			Mode:        each.Mode.ValueString(),
			IsConnected: each.Connected.ValueBool(),
		}
		if connection.Mode == manual {
			connection.IPAddress = each.Address.ValueString()
		}
		wanted = append(wanted, connection)
	}
	return wanted
}

func cardsOf(vm cloud.VM) (types.List, diag.Diagnostics) {
	values := []attr.Value{}
	for _, each := range connectionsOf(vm) {
		value, problems := types.ObjectValue(cardType.AttrTypes, map[string]attr.Value{
			"network":   types.StringValue(each.Network),
			"mode":      types.StringValue(each.Mode),
			"address":   textOrNull(each.IPAddress),
			"connected": types.BoolValue(each.IsConnected),
			"mac":       textOrNull(each.MACAddress),
		})
		if problems.HasError() {
			return types.ListNull(cardType), problems
		}
		values = append(values, value)
	}
	return types.ListValue(cardType, values)
}

func connectionsOf(vm cloud.VM) []cloud.Connection {
	if vm.Connections == nil {
		return nil
	}
	return vm.Connections.Card
}

// What changing the cards needs.
type cardChange int

const (
	sameCards cardChange = iota
	otherCables
	otherCards
)

func cardChangeOf(vm cloud.VM, wanted []cloud.Connection) cardChange {
	has := connectionsOf(vm)
	if wanted == nil {
		return sameCards
	}
	if len(has) != len(wanted) {
		return otherCards
	}
	found := sameCards
	for index, each := range wanted {
		is := has[index]
		if is.Network != each.Network || is.Mode != each.Mode || each.Mode == manual && is.IPAddress != each.IPAddress {
			return otherCards
		}
		if is.IsConnected != each.IsConnected {
			found = otherCables
		}
	}
	return found
}

func (s *site) connect(ctx context.Context, vm string, wanted []cloud.Connection) error {
	body := map[string]any{"info": "Network cards", "networkConnection": wanted}
	return s.Act(ctx, http.MethodPut, "/api/vApp/"+vm+"/networkConnectionSection", body)
}

// The first address of the cards.
func addressOf(vm cloud.VM) types.String {
	for _, each := range connectionsOf(vm) {
		if each.IPAddress != "" {
			return types.StringValue(each.IPAddress)
		}
	}
	return types.StringNull()
}

func textOrNull(text string) types.String {
	if text == "" {
		return types.StringNull()
	}
	return types.StringValue(text)
}
