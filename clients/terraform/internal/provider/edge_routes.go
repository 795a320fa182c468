package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

type routeModel struct {
	Name    types.String `tfsdk:"name"`
	Network types.String `tfsdk:"network"`
	NextHop types.String `tfsdk:"next_hop"`
}

var routeType = types.ObjectType{AttrTypes: map[string]attr.Type{
	"name": types.StringType, "network": types.StringType, "next_hop": types.StringType,
}}

func routesAttribute() schema.ListNestedAttribute {
	return schema.ListNestedAttribute{
		Optional:    true,
		Description: "Its static routes. Default: other clients manage them.",
		NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
			"name":     withDefault("", ""),
			"network":  schema.StringAttribute{Required: true, Description: "In CIDR notation."},
			"next_hop": schema.StringAttribute{Required: true, Description: "An IPv4 address."},
		}},
	}
}

func routesOf(ctx context.Context, list types.List, to *diag.Diagnostics) *routingService {
	if list.IsNull() || list.IsUnknown() {
		return nil
	}
	var routes []routeModel
	to.Append(list.ElementsAs(ctx, &routes, false)...)
	service := &routingService{Route: []staticRoute{}}
	for _, each := range routes {
		service.Route = append(service.Route, staticRoute{each.Name.ValueString(), each.Network.ValueString(), each.NextHop.ValueString()})
	}
	return service
}

func shownRoutes(ctx context.Context, service *routingService, to *diag.Diagnostics) types.List {
	routes := []routeModel{}
	if service != nil {
		for _, each := range service.Route {
			routes = append(routes, routeModel{types.StringValue(each.Name), types.StringValue(each.Network), types.StringValue(each.NextHopIP)})
		}
	}
	shown, problems := types.ListValueFrom(ctx, routeType, routes)
	to.Append(problems...)
	return shown
}
