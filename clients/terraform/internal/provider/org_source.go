package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"skerry.example/terraform-provider-skerry/internal/cloud"
)

// An organisation by its name.
type orgSource struct{ readsSite }

func (*orgSource) Metadata(_ context.Context, from datasource.MetadataRequest, to *datasource.MetadataResponse) {
	to.TypeName = from.ProviderTypeName + "_org"
}

func (*orgSource) Schema(_ context.Context, _ datasource.SchemaRequest, to *datasource.SchemaResponse) {
	to.Schema = schema.Schema{
		Description: "An organisation, by its name.",
		Attributes: map[string]schema.Attribute{
			"name": schema.StringAttribute{Optional: true, Computed: true, Description: "Default: that of the provider, then that of the token."},
			"id":   schema.StringAttribute{Computed: true},
			"vdcs": schema.MapAttribute{Computed: true, ElementType: types.StringType, Description: "The id of each of its vdcs, by name."},
		},
	}
}

func (o *orgSource) Read(ctx context.Context, from datasource.ReadRequest, to *datasource.ReadResponse) {
	var state struct {
		Name types.String `tfsdk:"name"`
		ID   types.String `tfsdk:"id"`
		Vdcs types.Map    `tfsdk:"vdcs"`
	}
	to.Diagnostics.Append(from.Config.Get(ctx, &state)...)
	if to.Diagnostics.HasError() {
		return
	}
	org, err := o.findOrg(ctx, state.Name.ValueString())
	if err != nil {
		to.Diagnostics.AddError("the organisation was not read", err.Error())
		return
	}
	vdcs, problems := types.MapValueFrom(ctx, types.StringType, vdcsOf(org))
	to.Diagnostics.Append(problems...)
	state.ID, state.Name, state.Vdcs = types.StringValue(cloud.ID(org.Href)), types.StringValue(org.Name), vdcs
	to.Diagnostics.Append(to.State.Set(ctx, &state)...)
}
