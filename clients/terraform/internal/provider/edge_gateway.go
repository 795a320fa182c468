package provider

import (
	"context"
	"net/http"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/setplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"skerry.example/terraform-provider-skerry/internal/cloud"
)

// An edge gateway with its external addresses. Its rules are a resource of their own, because they name addresses of its networks.
type edgeGatewayResource struct{ ofSite }

type edgeModel struct {
	ID                types.String `tfsdk:"id"`
	Name              types.String `tfsdk:"name"`
	Description       types.String `tfsdk:"description"`
	Vdc               types.String `tfsdk:"vdc"`
	ExternalNetwork   types.String `tfsdk:"external_network"`
	Address           types.String `tfsdk:"address"`
	ExternalAddresses types.Set    `tfsdk:"external_addresses"`
}

func (*edgeGatewayResource) Metadata(_ context.Context, from resource.MetadataRequest, to *resource.MetadataResponse) {
	to.TypeName = from.ProviderTypeName + "_edge_gateway"
}

func (*edgeGatewayResource) Schema(_ context.Context, _ resource.SchemaRequest, to *resource.SchemaResponse) {
	chosen := []planmodifier.String{stringplanmodifier.UseStateForUnknown(), stringplanmodifier.RequiresReplace()}
	to.Schema = schema.Schema{
		Description: "An edge gateway: the way of networks to an external network. Only system administrators create and delete one.",
		Attributes: map[string]schema.Attribute{
			"id":               idAttribute("The UUID of the edge gateway."),
			"name":             schema.StringAttribute{Required: true},
			"description":      descriptionAttribute(),
			"vdc":              vdcAttribute(),
			"external_network": schema.StringAttribute{Optional: true, Computed: true, PlanModifiers: chosen, Description: "The id of the external network. Default: the default one."},
			"address":          schema.StringAttribute{Computed: true, PlanModifiers: keepString(), Description: "Its own address on the external network."},
			"external_addresses": schema.SetAttribute{
				Optional:      true,
				Computed:      true,
				ElementType:   types.StringType,
				PlanModifiers: []planmodifier.Set{setplanmodifier.UseStateForUnknown()},
				Description:   "Addresses of the external network that the organisation takes for NAT rules. Default: other clients manage them.",
			},
		},
	}
}

func edgePath(id types.String) string { return "/api/admin/edgeGateway/" + id.ValueString() }

// The wanted addresses; nil: other clients manage them.
func (m *edgeModel) addresses(ctx context.Context, to *diag.Diagnostics) []string {
	if m.ExternalAddresses.IsNull() || m.ExternalAddresses.IsUnknown() {
		return nil
	}
	wanted := []string{}
	to.Append(m.ExternalAddresses.ElementsAs(ctx, &wanted, false)...)
	return wanted
}

func (r *edgeGatewayResource) Create(ctx context.Context, from resource.CreateRequest, to *resource.CreateResponse) {
	var plan edgeModel
	to.Diagnostics.Append(from.Plan.Get(ctx, &plan)...)
	description := plan.Description.ValueString()
	body := edgeDocument{Name: plan.Name.ValueString(), Description: &description}
	if network := referenceTo(plan.ExternalNetwork, r.Address("/api/admin/extension/externalnet/")); network != nil {
		body.Configuration.Interfaces = &edgeInterfaces{[]edgeInterface{{Network: *network, Type: uplink}}}
	}
	addresses := plan.addresses(ctx, &to.Diagnostics)
	if to.Diagnostics.HasError() {
		return
	}
	const what = "the edge gateway was not created"
	vdc, err := r.vdcID(ctx, plan.Vdc)
	var made edgeDocument
	if err == nil {
		err = r.Post(ctx, "/api/admin/vdc/"+vdc+"/edgeGateways", body, &made)
	}
	if err != nil {
		refuse(&to.Diagnostics, what, err)
		return
	}
	plan.ID = types.StringValue(cloud.ID(made.Href))
	to.Diagnostics.Append(to.State.SetAttribute(ctx, path.Root("id"), plan.ID)...)
	if err = r.WaitAll(ctx, made.Tasks); err == nil {
		err = r.own(ctx, plan.ID, addresses)
	}
	if err == nil {
		err = r.show(ctx, &plan, &to.Diagnostics)
	}
	if err != nil {
		refuse(&to.Diagnostics, what, err)
		return
	}
	to.Diagnostics.Append(to.State.Set(ctx, &plan)...)
}

// Takes and releases external addresses. Nil: other clients manage them.
func (r *edgeGatewayResource) own(ctx context.Context, id types.String, wanted []string) error {
	if wanted == nil {
		return nil
	}
	taken, err := r.taken(ctx, id)
	if err != nil {
		return err
	}
	for _, address := range wanted {
		if slices.Contains(taken, address) {
			continue
		}
		if err := r.Post(ctx, edgePath(id)+"/externalAddresses", map[string]any{"ipAddress": address}, nil); err != nil {
			return err
		}
	}
	for _, address := range taken {
		if slices.Contains(wanted, address) {
			continue
		}
		if err := r.Remove(ctx, edgePath(id)+"/externalAddresses/"+address); err != nil && !cloud.IsGone(err) {
			return err
		}
	}
	return nil
}

func (r *edgeGatewayResource) taken(ctx context.Context, id types.String) ([]string, error) {
	var list struct {
		Address []struct {
			IPAddress string `json:"ipAddress"`
		} `json:"externalAddress"`
	}
	err := r.Get(ctx, edgePath(id)+"/externalAddresses", &list)
	taken := make([]string, 0, len(list.Address))
	for _, each := range list.Address {
		taken = append(taken, each.IPAddress)
	}
	return taken, err
}

func (r *edgeGatewayResource) show(ctx context.Context, model *edgeModel, to *diag.Diagnostics) error {
	var is edgeDocument
	if err := r.Get(ctx, edgePath(model.ID), &is); err != nil {
		return err
	}
	taken, err := r.taken(ctx, model.ID)
	if err != nil {
		return err
	}
	outside := is.uplink()
	model.Name = types.StringValue(is.Name)
	model.Description = types.StringValue("")
	if is.Description != nil {
		model.Description = types.StringValue(*is.Description)
	}
	model.Vdc = types.StringValue(cloud.Up(is.Link))
	model.ExternalNetwork = idOf(&outside.Network)
	model.Address = types.StringNull()
	if outside.Subnet != nil {
		model.Address = textOrNull(outside.Subnet.IPAddress)
	}
	addresses, problems := types.SetValueFrom(ctx, types.StringType, taken)
	to.Append(problems...)
	model.ExternalAddresses = addresses
	return nil
}

func (r *edgeGatewayResource) Read(ctx context.Context, from resource.ReadRequest, to *resource.ReadResponse) {
	var state edgeModel
	to.Diagnostics.Append(from.State.Get(ctx, &state)...)
	if to.Diagnostics.HasError() {
		return
	}
	err := r.show(ctx, &state, &to.Diagnostics)
	if cloud.IsGone(err) {
		to.State.RemoveResource(ctx)
		return
	}
	if err != nil {
		refuse(&to.Diagnostics, "the edge gateway was not read", err)
		return
	}
	to.Diagnostics.Append(to.State.Set(ctx, &state)...)
}

func (r *edgeGatewayResource) Update(ctx context.Context, from resource.UpdateRequest, to *resource.UpdateResponse) {
	var plan, state, config edgeModel
	to.Diagnostics.Append(from.Plan.Get(ctx, &plan)...)
	to.Diagnostics.Append(from.State.Get(ctx, &state)...)
	to.Diagnostics.Append(from.Config.Get(ctx, &config)...)
	addresses := config.addresses(ctx, &to.Diagnostics)
	if to.Diagnostics.HasError() {
		return
	}
	var err error
	if !plan.Name.Equal(state.Name) || !plan.Description.Equal(state.Description) {
		description := plan.Description.ValueString()
		err = r.Act(ctx, http.MethodPut, edgePath(plan.ID), edgeDocument{Name: plan.Name.ValueString(), Description: &description})
	}
	if err == nil {
		err = r.own(ctx, plan.ID, addresses)
	}
	if err == nil {
		err = r.show(ctx, &plan, &to.Diagnostics)
	}
	if err != nil {
		refuse(&to.Diagnostics, "the edge gateway was not changed", err)
		return
	}
	to.Diagnostics.Append(to.State.Set(ctx, &plan)...)
}

func (r *edgeGatewayResource) Delete(ctx context.Context, from resource.DeleteRequest, to *resource.DeleteResponse) {
	var id types.String
	to.Diagnostics.Append(from.State.GetAttribute(ctx, path.Root("id"), &id)...)
	err := r.own(ctx, id, []string{})
	if err == nil {
		err = r.Act(ctx, http.MethodDelete, edgePath(id), nil)
	}
	if err != nil && !cloud.IsGone(err) {
		refuse(&to.Diagnostics, "the edge gateway was not deleted", err)
	}
}

func (*edgeGatewayResource) ImportState(ctx context.Context, from resource.ImportStateRequest, to *resource.ImportStateResponse) {
	resource.ImportStatePassthroughID(ctx, path.Root("id"), from, to)
}
