package provider

import (
	"context"
	"net/http"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/boolplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/listplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"skerry.example/terraform-provider-skerry/internal/cloud"
)

// A network of a vdc.
type networkResource struct{ ofSite }

type networkModel struct {
	ID              types.String `tfsdk:"id"`
	Name            types.String `tfsdk:"name"`
	Description     types.String `tfsdk:"description"`
	Vdc             types.String `tfsdk:"vdc"`
	Kind            types.String `tfsdk:"kind"`
	Gateway         types.String `tfsdk:"gateway"`
	Netmask         types.String `tfsdk:"netmask"`
	DNS             types.List   `tfsdk:"dns"`
	DNSSuffix       types.String `tfsdk:"dns_suffix"`
	Ranges          types.List   `tfsdk:"ranges"`
	Shared          types.Bool   `tfsdk:"shared"`
	IPv6            types.Bool   `tfsdk:"ipv6"`
	IPv6Prefix      types.String `tfsdk:"ipv6_prefix"`
	EdgeGateway     types.String `tfsdk:"edge_gateway"`
	ExternalNetwork types.String `tfsdk:"external_network"`
}

type rangeModel struct {
	Start types.String `tfsdk:"start"`
	End   types.String `tfsdk:"end"`
}

var rangeType = types.ObjectType{AttrTypes: map[string]attr.Type{"start": types.StringType, "end": types.StringType}}

func (*networkResource) Metadata(_ context.Context, from resource.MetadataRequest, to *resource.MetadataResponse) {
	to.TypeName = from.ProviderTypeName + "_network"
}

func (*networkResource) Schema(_ context.Context, _ resource.SchemaRequest, to *resource.SchemaResponse) {
	chosen := []planmodifier.String{stringplanmodifier.UseStateForUnknown(), stringplanmodifier.RequiresReplace()}
	to.Schema = schema.Schema{
		Description: "A network of a vdc, across its hosts.",
		Attributes: map[string]schema.Attribute{
			"id":          idAttribute("The UUID of the network."),
			"name":        schema.StringAttribute{Required: true},
			"description": descriptionAttribute(),
			"vdc":         vdcAttribute(),
			"kind": schema.StringAttribute{
				Optional:      true,
				Computed:      true,
				Default:       stringdefault.StaticString("isolated"),
				PlanModifiers: replaceString(),
				Description:   "isolated; natRouted: behind an edge gateway; bridged: an external network. Default: isolated.",
			},
			"gateway":    schema.StringAttribute{Optional: true, Computed: true, PlanModifiers: keepString(), Description: "Its first router, an IPv4 address. bridged: that of the external network."},
			"netmask":    schema.StringAttribute{Optional: true, Computed: true, PlanModifiers: keepString(), Description: "From 255.255.0.0 to 255.255.255.248."},
			"dns":        schema.ListAttribute{Optional: true, Computed: true, ElementType: types.StringType, PlanModifiers: []planmodifier.List{listplanmodifier.UseStateForUnknown()}, Description: "At most two name servers."},
			"dns_suffix": schema.StringAttribute{Optional: true, Computed: true, PlanModifiers: keepString(), Description: "The domain of its guests."},
			"ranges": schema.ListNestedAttribute{
				Optional:      true,
				Computed:      true,
				PlanModifiers: []planmodifier.List{listplanmodifier.UseStateForUnknown()},
				Description:   "The addresses that the cloud gives to cards, in their order. Default: all.",
				NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
					"start": schema.StringAttribute{Required: true},
					"end":   schema.StringAttribute{Required: true},
				}},
			},
			"shared": schema.BoolAttribute{
				Optional: true, Computed: true,
				PlanModifiers: []planmodifier.Bool{boolplanmodifier.UseStateForUnknown(), boolplanmodifier.RequiresReplace()},
				Description:   "Whether VMs of the other vdcs of the organisation may be on it.",
			},
			"ipv6":             schema.BoolAttribute{Optional: true, Computed: true, Default: booldefault.StaticBool(false), Description: "Whether it has IPv6 too. Only natRouted networks can."},
			"ipv6_prefix":      schema.StringAttribute{Computed: true, Description: "The IPv6 range that the cloud gave it."},
			"edge_gateway":     schema.StringAttribute{Optional: true, Computed: true, PlanModifiers: chosen, Description: "natRouted: the id of its edge gateway. Default: that of the vdc."},
			"external_network": schema.StringAttribute{Optional: true, PlanModifiers: replaceString(), Description: "bridged: the id of the external network."},
		},
	}
}

func descriptionAttribute() schema.StringAttribute {
	return schema.StringAttribute{Optional: true, Computed: true, Default: stringdefault.StaticString("")}
}

func (m *networkModel) document(ctx context.Context, s *site, to *diag.Diagnostics) networkDocument {
	description := m.Description.ValueString()
	document := networkDocument{
		Name:          m.Name.ValueString(),
		Description:   &description,
		Configuration: networkConfiguration{FenceMode: m.Kind.ValueString()},
		IsShared:      m.Shared.ValueBoolPointer(),
		EdgeGateway:   referenceTo(m.EdgeGateway, s.Address("/api/admin/edgeGateway/")),
	}
	if m.Kind.ValueString() == "natRouted" {
		document.IsIpv6Enabled = m.IPv6.ValueBoolPointer()
	}
	document.Configuration.ParentNetwork = referenceTo(m.ExternalNetwork, s.Address("/api/admin/extension/externalnet/"))
	if m.Gateway.ValueString() == "" {
		return document
	}
	scope := ipScope{Gateway: m.Gateway.ValueString(), Netmask: m.Netmask.ValueString()}
	if !m.DNS.IsUnknown() && !m.DNS.IsNull() {
		var servers []string
		to.Append(m.DNS.ElementsAs(ctx, &servers, false)...)
		servers = append(servers, "", "")
		scope.DNS1, scope.DNS2 = &servers[0], &servers[1]
	}
	if !m.DNSSuffix.IsUnknown() && !m.DNSSuffix.IsNull() {
		scope.DNSSuffix = m.DNSSuffix.ValueStringPointer()
	}
	if !m.Ranges.IsUnknown() && !m.Ranges.IsNull() {
		var wanted []rangeModel
		to.Append(m.Ranges.ElementsAs(ctx, &wanted, false)...)
		scope.IPRanges = &ipRanges{IPRange: []ipRange{}}
		for _, each := range wanted {
			scope.IPRanges.IPRange = append(scope.IPRanges.IPRange, ipRange{each.Start.ValueString(), each.End.ValueString()})
		}
	}
	document.Configuration.IPScopes = &ipScopes{scope}
	return document
}

func referenceTo(id types.String, address string) *cloud.Reference {
	if id.ValueString() == "" {
		return nil
	}
	return &cloud.Reference{Href: address + id.ValueString()}
}

func idOf(reference *cloud.Reference) types.String {
	if reference == nil {
		return types.StringNull()
	}
	if reference.Href != "" {
		return types.StringValue(cloud.ID(reference.Href))
	}
	return types.StringValue(cloud.ID(reference.ID))
}

func (r *networkResource) show(ctx context.Context, model *networkModel) (diag.Diagnostics, error) {
	var problems diag.Diagnostics
	var is networkDocument
	if err := r.Get(ctx, "/api/network/"+model.ID.ValueString(), &is); err != nil {
		return problems, err
	}
	scope := is.Configuration.scope()
	model.Name = types.StringValue(is.Name)
	model.Description = types.StringValue("")
	if is.Description != nil {
		model.Description = types.StringValue(*is.Description)
	}
	model.Vdc = types.StringValue(cloud.Up(is.Link))
	model.Kind = types.StringValue(is.Configuration.FenceMode)
	model.Gateway, model.Netmask = textOrNull(scope.Gateway), textOrNull(scope.Netmask)
	servers := []string{}
	for _, each := range []*string{scope.DNS1, scope.DNS2} {
		if each != nil && *each != "" {
			servers = append(servers, *each)
		}
	}
	dns, more := types.ListValueFrom(ctx, types.StringType, servers)
	problems.Append(more...)
	model.DNS = dns
	model.DNSSuffix = types.StringPointerValue(scope.DNSSuffix)
	ranges := []rangeModel{}
	if scope.IPRanges != nil {
		for _, each := range scope.IPRanges.IPRange {
			ranges = append(ranges, rangeModel{types.StringValue(each.StartAddress), types.StringValue(each.EndAddress)})
		}
	}
	model.Ranges, more = types.ListValueFrom(ctx, rangeType, ranges)
	problems.Append(more...)
	model.Shared = types.BoolValue(is.IsShared != nil && *is.IsShared)
	model.IPv6 = types.BoolValue(is.IsIpv6Enabled != nil && *is.IsIpv6Enabled)
	model.IPv6Prefix = textOrNull(is.Ipv6Prefix)
	model.EdgeGateway = idOf(is.EdgeGateway)
	model.ExternalNetwork = idOf(is.Configuration.ParentNetwork)
	return problems, nil
}

func (r *networkResource) Create(ctx context.Context, from resource.CreateRequest, to *resource.CreateResponse) {
	var plan networkModel
	to.Diagnostics.Append(from.Plan.Get(ctx, &plan)...)
	body := plan.document(ctx, r.site, &to.Diagnostics)
	if to.Diagnostics.HasError() {
		return
	}
	const what = "the network was not created"
	vdc, err := r.vdcID(ctx, plan.Vdc)
	var made networkDocument
	if err == nil {
		err = r.Post(ctx, "/api/admin/vdc/"+vdc+"/networks", body, &made)
	}
	if err != nil {
		refuse(&to.Diagnostics, what, err)
		return
	}
	plan.ID = types.StringValue(cloud.ID(made.Href))
	to.Diagnostics.Append(to.State.SetAttribute(ctx, path.Root("id"), plan.ID)...)
	if err = r.WaitAll(ctx, made.Tasks); err == nil {
		err = r.showInto(ctx, &plan, &to.Diagnostics)
	}
	if err != nil {
		refuse(&to.Diagnostics, what, err)
		return
	}
	to.Diagnostics.Append(to.State.Set(ctx, &plan)...)
}

func (r *networkResource) showInto(ctx context.Context, model *networkModel, to *diag.Diagnostics) error {
	problems, err := r.show(ctx, model)
	to.Append(problems...)
	return err
}

func (r *networkResource) Read(ctx context.Context, from resource.ReadRequest, to *resource.ReadResponse) {
	var state networkModel
	to.Diagnostics.Append(from.State.Get(ctx, &state)...)
	if to.Diagnostics.HasError() {
		return
	}
	err := r.showInto(ctx, &state, &to.Diagnostics)
	if cloud.IsGone(err) {
		to.State.RemoveResource(ctx)
		return
	}
	if err != nil {
		refuse(&to.Diagnostics, "the network was not read", err)
		return
	}
	to.Diagnostics.Append(to.State.Set(ctx, &state)...)
}

func (r *networkResource) Update(ctx context.Context, from resource.UpdateRequest, to *resource.UpdateResponse) {
	var plan networkModel
	to.Diagnostics.Append(from.Plan.Get(ctx, &plan)...)
	body := plan.document(ctx, r.site, &to.Diagnostics)
	if to.Diagnostics.HasError() {
		return
	}
	err := r.Act(ctx, http.MethodPut, "/api/admin/network/"+plan.ID.ValueString(), body)
	if err == nil {
		err = r.showInto(ctx, &plan, &to.Diagnostics)
	}
	if err != nil {
		refuse(&to.Diagnostics, "the network was not changed", err)
		return
	}
	to.Diagnostics.Append(to.State.Set(ctx, &plan)...)
}

// How long a network waits for the cards of deleted VMs to leave it.
const leavingLimit = 2 * time.Minute

func (r *networkResource) Delete(ctx context.Context, from resource.DeleteRequest, to *resource.DeleteResponse) {
	var id types.String
	to.Diagnostics.Append(from.State.GetAttribute(ctx, path.Root("id"), &id)...)
	address := "/api/admin/network/" + id.ValueString()
	err := r.Act(ctx, http.MethodDelete, address, nil)
	for until := time.Now().Add(leavingLimit); cloud.IsConflict(err) && r.isEmpty(ctx, id.ValueString()) && time.Now().Before(until); {
		if !cloud.Rest(ctx, time.Second) {
			break
		}
		err = r.Act(ctx, http.MethodDelete, address, nil)
	}
	if err != nil && !cloud.IsGone(err) {
		refuse(&to.Diagnostics, "the network was not deleted", err)
	}
}

// Whether no card has an address of the network. Cards may still be leaving it.
func (r *networkResource) isEmpty(ctx context.Context, id string) bool {
	var allocated struct {
		IPAddress []struct{} `json:"ipAddress"`
	}
	err := r.Get(ctx, "/api/network/"+id+"/allocatedAddresses", &allocated)
	return err == nil && len(allocated.IPAddress) == 0
}

func (*networkResource) ImportState(ctx context.Context, from resource.ImportStateRequest, to *resource.ImportStateResponse) {
	resource.ImportStatePassthroughID(ctx, path.Root("id"), from, to)
}
