package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"skerry.example/terraform-provider-skerry/internal/cloud"
)

// An external network by its name.
type externalNetworkSource struct{ readsSite }

func (*externalNetworkSource) Metadata(_ context.Context, from datasource.MetadataRequest, to *datasource.MetadataResponse) {
	to.TypeName = from.ProviderTypeName + "_external_network"
}

func (*externalNetworkSource) Schema(_ context.Context, _ datasource.SchemaRequest, to *datasource.SchemaResponse) {
	to.Schema = schema.Schema{
		Description: "An external network, by its name. Only system administrators see all of them.",
		Attributes: map[string]schema.Attribute{
			"name":    schema.StringAttribute{Required: true},
			"id":      schema.StringAttribute{Computed: true},
			"gateway": schema.StringAttribute{Computed: true},
			"netmask": schema.StringAttribute{Computed: true},
		},
	}
}

func (e *externalNetworkSource) Read(ctx context.Context, from datasource.ReadRequest, to *datasource.ReadResponse) {
	var state struct {
		Name    types.String `tfsdk:"name"`
		ID      types.String `tfsdk:"id"`
		Gateway types.String `tfsdk:"gateway"`
		Netmask types.String `tfsdk:"netmask"`
	}
	to.Diagnostics.Append(from.Config.Get(ctx, &state)...)
	if to.Diagnostics.HasError() {
		return
	}
	document, err := e.findExternal(ctx, state.Name.ValueString())
	if err != nil {
		to.Diagnostics.AddError("the external network was not read", err.Error())
		return
	}
	scope := document.Configuration.scope()
	state.ID = types.StringValue(cloud.ID(document.Href))
	state.Gateway, state.Netmask = textOrNull(scope.Gateway), textOrNull(scope.Netmask)
	to.Diagnostics.Append(to.State.Set(ctx, &state)...)
}

func (s *site) findExternal(ctx context.Context, name string) (*networkDocument, error) {
	var list struct {
		Reference []cloud.Reference `json:"externalNetworkReference"`
	}
	if err := s.Get(ctx, "/api/admin/extension/externalNetworks", &list); err != nil {
		return nil, err
	}
	names := make([]string, 0, len(list.Reference))
	for _, each := range list.Reference {
		if each.Name == name {
			var document networkDocument
			return &document, s.Get(ctx, "/api/admin/extension/externalnet/"+cloud.ID(each.Href), &document)
		}
		names = append(names, each.Name)
	}
	return nil, missing("external network", name, names)
}
