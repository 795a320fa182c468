package provider

import (
	"context"
	"strconv"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

type natModel struct {
	Description     types.String `tfsdk:"description"`
	Enabled         types.Bool   `tfsdk:"enabled"`
	Type            types.String `tfsdk:"type"`
	ExternalAddress types.String `tfsdk:"external_address"`
	ExternalPort    types.Int64  `tfsdk:"external_port"`
	InternalAddress types.String `tfsdk:"internal_address"`
	InternalPort    types.Int64  `tfsdk:"internal_port"`
	Protocol        types.String `tfsdk:"protocol"`
}

var natType = types.ObjectType{AttrTypes: map[string]attr.Type{
	"description": types.StringType, "enabled": types.BoolType, "type": types.StringType,
	"external_address": types.StringType, "external_port": types.Int64Type,
	"internal_address": types.StringType, "internal_port": types.Int64Type, "protocol": types.StringType,
}}

const sourceNat = "SNAT"

func natAttribute() schema.ListNestedAttribute {
	return schema.ListNestedAttribute{
		Optional:    true,
		Description: "Its NAT rules. Default: other clients manage them.",
		NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
			"description":      withDefault("", ""),
			"enabled":          enabledAttribute(),
			"type":             schema.StringAttribute{Required: true, Description: "DNAT: from the outside to a VM. SNAT: from VMs to the outside."},
			"external_address": schema.StringAttribute{Required: true, Description: "The address of the edge gateway, or one of its external_addresses."},
			"external_port":    schema.Int64Attribute{Optional: true, Description: "DNAT: the port that is forwarded. Default: all."},
			"internal_address": schema.StringAttribute{Required: true, Description: "DNAT: the address of a VM. SNAT: an address, or a range in CIDR notation."},
			"internal_port":    schema.Int64Attribute{Optional: true, Computed: true, Description: "DNAT of a port: the port of the VM. Default: external_port."},
			"protocol":         schema.StringAttribute{Optional: true, Computed: true, Description: "DNAT of a port: tcp or udp. Default: tcp."},
		}},
	}
}

func natOf(ctx context.Context, list types.List, to *diag.Diagnostics) *natService {
	if list.IsNull() || list.IsUnknown() {
		return nil
	}
	var rules []natModel
	to.Append(list.ElementsAs(ctx, &rules, false)...)
	service := &natService{Rule: []natRule{}}
	for _, rule := range rules {
		outside, inside := rule.ExternalAddress.ValueString(), rule.InternalAddress.ValueString()
		pair := natPair{OriginalIP: outside, TranslatedIP: inside}
		if rule.Type.ValueString() == sourceNat {
			pair = natPair{OriginalIP: inside, TranslatedIP: outside}
		} else if !rule.ExternalPort.IsNull() {
			pair.OriginalPort = portText(rule.ExternalPort)
			pair.TranslatedPort = portText(rule.InternalPort)
			pair.Protocol = rule.Protocol.ValueString()
		}
		service.Rule = append(service.Rule, natRule{
			Description: rule.Description.ValueString(),
			RuleType:    rule.Type.ValueString(),
			IsEnabled:   rule.Enabled.ValueBool(),
			Translation: pair,
		})
	}
	return service
}

func portText(port types.Int64) string {
	if port.IsNull() || port.IsUnknown() {
		return ""
	}
	return strconv.FormatInt(port.ValueInt64(), 10)
}

func shownNat(ctx context.Context, service *natService, to *diag.Diagnostics) types.List {
	rules := []natModel{}
	if service != nil {
		for _, rule := range service.Rule {
			rules = append(rules, shownNatRule(rule))
		}
	}
	shown, problems := types.ListValueFrom(ctx, natType, rules)
	to.Append(problems...)
	return shown
}

func shownNatRule(rule natRule) natModel {
	pair := rule.Translation
	shown := natModel{
		Description:     types.StringValue(rule.Description),
		Enabled:         types.BoolValue(rule.IsEnabled),
		Type:            types.StringValue(rule.RuleType),
		ExternalAddress: types.StringValue(pair.OriginalIP),
		InternalAddress: types.StringValue(pair.TranslatedIP),
		ExternalPort:    portOrNull(pair.OriginalPort),
		InternalPort:    portOrNull(pair.TranslatedPort),
		Protocol:        portsOrNull(pair.Protocol),
	}
	if rule.RuleType == sourceNat {
		shown.ExternalAddress, shown.InternalAddress = shown.InternalAddress, shown.ExternalAddress
	}
	return shown
}

func portOrNull(text string) types.Int64 {
	port, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return types.Int64Null()
	}
	return types.Int64Value(port)
}
