package provider

import (
	"context"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/setdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"
)

type firewallModel struct {
	Enabled       types.Bool          `tfsdk:"enabled"`
	DefaultAction types.String        `tfsdk:"default_action"`
	Rules         []firewallRuleModel `tfsdk:"rules"`
}

type firewallRuleModel struct {
	Description      types.String `tfsdk:"description"`
	Enabled          types.Bool   `tfsdk:"enabled"`
	Policy           types.String `tfsdk:"policy"`
	Direction        types.String `tfsdk:"direction"`
	Protocols        types.Set    `tfsdk:"protocols"`
	Source           types.String `tfsdk:"source"`
	SourcePorts      types.String `tfsdk:"source_ports"`
	Destination      types.String `tfsdk:"destination"`
	DestinationPorts types.String `tfsdk:"destination_ports"`
}

var firewallRuleType = types.ObjectType{AttrTypes: map[string]attr.Type{
	"description": types.StringType, "enabled": types.BoolType, "policy": types.StringType, "direction": types.StringType,
	"protocols": types.SetType{ElemType: types.StringType}, "source": types.StringType, "source_ports": types.StringType,
	"destination": types.StringType, "destination_ports": types.StringType,
}}

var firewallType = map[string]attr.Type{
	"enabled": types.BoolType, "default_action": types.StringType, "rules": types.ListType{ElemType: firewallRuleType},
}

const anything = "any"

func withDefault(text, description string) schema.StringAttribute {
	return schema.StringAttribute{Optional: true, Computed: true, Default: stringdefault.StaticString(text), Description: description}
}

func enabledAttribute() schema.BoolAttribute {
	return schema.BoolAttribute{Optional: true, Computed: true, Default: booldefault.StaticBool(true)}
}

func firewallAttribute() schema.SingleNestedAttribute {
	anyProtocol := types.SetValueMust(types.StringType, []attr.Value{types.StringValue(anything)})
	return schema.SingleNestedAttribute{
		Optional:    true,
		Description: "Its firewall. Default: other clients manage it.",
		Attributes: map[string]schema.Attribute{
			"enabled":        enabledAttribute(),
			"default_action": withDefault("drop", "allow or drop: what happens to packets without a rule. Default: drop."),
			"rules": schema.ListNestedAttribute{
				Required:    true,
				Description: "The first rule that matches decides.",
				NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
					"description":       withDefault("", ""),
					"enabled":           enabledAttribute(),
					"policy":            withDefault("allow", "allow or drop. Default: allow."),
					"direction":         schema.StringAttribute{Required: true, Description: "in: from the outside; out: to it."},
					"protocols":         schema.SetAttribute{Optional: true, Computed: true, ElementType: types.StringType, Default: setdefault.StaticValue(anyProtocol), Description: "tcp, udp, icmp or any. Default: any."},
					"source":            withDefault(anything, "any, internal, external, an address or a range in CIDR notation. Default: any."),
					"source_ports":      schema.StringAttribute{Optional: true, Description: "A port, or a range such as 8000-8099. Default: all."},
					"destination":       withDefault(anything, "As source. Default: any."),
					"destination_ports": schema.StringAttribute{Optional: true, Description: "As source_ports. Default: all."},
				}},
			},
		},
	}
}

func firewallOf(ctx context.Context, object types.Object, to *diag.Diagnostics) *firewallService {
	if object.IsNull() || object.IsUnknown() {
		return nil
	}
	var model firewallModel
	to.Append(object.As(ctx, &model, basetypes.ObjectAsOptions{})...)
	service := &firewallService{IsEnabled: model.Enabled.ValueBool(), DefaultAction: model.DefaultAction.ValueString(), Rule: []firewallRule{}}
	for _, rule := range model.Rules {
		var protocols []string
		to.Append(rule.Protocols.ElementsAs(ctx, &protocols, false)...)
		has := func(name string) bool { return slices.Contains(protocols, name) }
		service.Rule = append(service.Rule, firewallRule{
			IsEnabled:       rule.Enabled.ValueBool(),
			Description:     rule.Description.ValueString(),
			Policy:          rule.Policy.ValueString(),
			Direction:       rule.Direction.ValueString(),
			Protocols:       ruleProtocols{ICMP: has("icmp"), Any: has(anything), TCP: has("tcp"), UDP: has("udp")},
			SourceIP:        rule.Source.ValueString(),
			SourcePort:      rule.SourcePorts.ValueString(),
			DestinationIP:   rule.Destination.ValueString(),
			DestinationPort: rule.DestinationPorts.ValueString(),
		})
	}
	return service
}

func shownFirewall(ctx context.Context, service *firewallService, to *diag.Diagnostics) types.Object {
	if service == nil {
		return types.ObjectNull(firewallType)
	}
	model := firewallModel{
		Enabled:       types.BoolValue(service.IsEnabled),
		DefaultAction: types.StringValue(service.DefaultAction),
		Rules:         []firewallRuleModel{},
	}
	for _, rule := range service.Rule {
		protocols := []attr.Value{}
		for _, each := range []struct {
			name string
			is   bool
		}{{"icmp", rule.Protocols.ICMP}, {anything, rule.Protocols.Any}, {"tcp", rule.Protocols.TCP}, {"udp", rule.Protocols.UDP}} {
			if each.is {
				protocols = append(protocols, types.StringValue(each.name))
			}
		}
		set, problems := types.SetValue(types.StringType, protocols)
		to.Append(problems...)
		model.Rules = append(model.Rules, firewallRuleModel{
			Description:      types.StringValue(rule.Description),
			Enabled:          types.BoolValue(rule.IsEnabled),
			Policy:           types.StringValue(rule.Policy),
			Direction:        types.StringValue(rule.Direction),
			Protocols:        set,
			Source:           types.StringValue(peer(rule.SourceIP)),
			SourcePorts:      portsOrNull(rule.SourcePort),
			Destination:      types.StringValue(peer(rule.DestinationIP)),
			DestinationPorts: portsOrNull(rule.DestinationPort),
		})
	}
	shown, problems := types.ObjectValueFrom(ctx, firewallType, model)
	to.Append(problems...)
	return shown
}

func peer(text string) string {
	if strings.EqualFold(text, anything) {
		return anything
	}
	return text
}

func portsOrNull(text string) types.String {
	if strings.EqualFold(text, anything) {
		return types.StringNull()
	}
	return textOrNull(text)
}
