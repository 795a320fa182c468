package provider

import (
	"context"
	"net/http"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"skerry.example/terraform-provider-skerry/internal/cloud"
)

// The firewall, NAT rules and static routes of an edge gateway.
type edgeRulesResource struct{ ofSite }

type rulesModel struct {
	ID          types.String `tfsdk:"id"`
	EdgeGateway types.String `tfsdk:"edge_gateway"`
	Firewall    types.Object `tfsdk:"firewall"`
	Nat         types.List   `tfsdk:"nat"`
	Routes      types.List   `tfsdk:"routes"`
}

func (*edgeRulesResource) Metadata(_ context.Context, from resource.MetadataRequest, to *resource.MetadataResponse) {
	to.TypeName = from.ProviderTypeName + "_edge_rules"
}

func (*edgeRulesResource) Schema(_ context.Context, _ resource.SchemaRequest, to *resource.SchemaResponse) {
	to.Schema = schema.Schema{
		Description: "The rules of an edge gateway. One resource has all rules of a gateway; what it leaves out, other clients manage.",
		Attributes: map[string]schema.Attribute{
			"id":           idAttribute("The UUID of the edge gateway."),
			"edge_gateway": schema.StringAttribute{Required: true, PlanModifiers: replaceString(), Description: "The UUID of the edge gateway."},
			"firewall":     firewallAttribute(),
			"nat":          natAttribute(),
			"routes":       routesAttribute(),
		},
	}
}

func (m *rulesModel) services(ctx context.Context, to *diag.Diagnostics) edgeServices {
	return edgeServices{Firewall: firewallOf(ctx, m.Firewall, to), Nat: natOf(ctx, m.Nat, to), Routing: routesOf(ctx, m.Routes, to)}
}

func (r *edgeRulesResource) configure(ctx context.Context, gateway types.String, services edgeServices) error {
	if services == (edgeServices{}) {
		return nil
	}
	return r.Act(ctx, http.MethodPost, edgePath(gateway)+"/action/configureServices", services)
}

// Shows what the model manages. An import manages all.
func (r *edgeRulesResource) show(ctx context.Context, model *rulesModel, to *diag.Diagnostics) error {
	var is edgeDocument
	if err := r.Get(ctx, edgePath(model.ID), &is); err != nil {
		return err
	}
	services := is.Configuration.Services
	if services == nil {
		services = &edgeServices{}
	}
	imported := model.EdgeGateway.IsNull()
	model.EdgeGateway = model.ID
	if imported || !model.Firewall.IsNull() {
		model.Firewall = shownFirewall(ctx, services.Firewall, to)
	}
	if imported && services.Nat != nil && len(services.Nat.Rule) > 0 || !model.Nat.IsNull() {
		model.Nat = shownNat(ctx, services.Nat, to)
	}
	if imported && services.Routing != nil && len(services.Routing.Route) > 0 || !model.Routes.IsNull() {
		model.Routes = shownRoutes(ctx, services.Routing, to)
	}
	return nil
}

func (r *edgeRulesResource) Create(ctx context.Context, from resource.CreateRequest, to *resource.CreateResponse) {
	var plan rulesModel
	to.Diagnostics.Append(from.Plan.Get(ctx, &plan)...)
	if to.Diagnostics.HasError() {
		return
	}
	plan.ID = plan.EdgeGateway
	if r.write(ctx, &plan, &to.Diagnostics) {
		to.Diagnostics.Append(to.State.Set(ctx, &plan)...)
	}
}

func (r *edgeRulesResource) write(ctx context.Context, plan *rulesModel, to *diag.Diagnostics) bool {
	services := plan.services(ctx, to)
	if to.HasError() {
		return false
	}
	err := r.configure(ctx, plan.ID, services)
	if err == nil {
		err = r.show(ctx, plan, to)
	}
	if err != nil {
		refuse(to, "the rules of the edge gateway were not changed", err)
	}
	return !to.HasError()
}

func (r *edgeRulesResource) Read(ctx context.Context, from resource.ReadRequest, to *resource.ReadResponse) {
	var state rulesModel
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
		refuse(&to.Diagnostics, "the rules of the edge gateway were not read", err)
		return
	}
	to.Diagnostics.Append(to.State.Set(ctx, &state)...)
}

func (r *edgeRulesResource) Update(ctx context.Context, from resource.UpdateRequest, to *resource.UpdateResponse) {
	var plan rulesModel
	to.Diagnostics.Append(from.Plan.Get(ctx, &plan)...)
	if !to.Diagnostics.HasError() && r.write(ctx, &plan, &to.Diagnostics) {
		to.Diagnostics.Append(to.State.Set(ctx, &plan)...)
	}
}

// What the state manages becomes as a new gateway has it: no rule, and a firewall that drops.
func (r *edgeRulesResource) Delete(ctx context.Context, from resource.DeleteRequest, to *resource.DeleteResponse) {
	var state rulesModel
	to.Diagnostics.Append(from.State.Get(ctx, &state)...)
	if to.Diagnostics.HasError() {
		return
	}
	var none edgeServices
	if !state.Firewall.IsNull() {
		none.Firewall = &firewallService{IsEnabled: true, DefaultAction: "drop", Rule: []firewallRule{}}
	}
	if !state.Nat.IsNull() {
		none.Nat = &natService{Rule: []natRule{}}
	}
	if !state.Routes.IsNull() {
		none.Routing = &routingService{Route: []staticRoute{}}
	}
	if err := r.configure(ctx, state.ID, none); err != nil && !cloud.IsGone(err) {
		refuse(&to.Diagnostics, "the rules of the edge gateway were not deleted", err)
	}
}

func (*edgeRulesResource) ImportState(ctx context.Context, from resource.ImportStateRequest, to *resource.ImportStateResponse) {
	resource.ImportStatePassthroughID(ctx, path.Root("id"), from, to)
}
