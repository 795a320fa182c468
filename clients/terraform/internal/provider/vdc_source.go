package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// A vdc by its name.
type vdcSource struct{ readsSite }

func (*vdcSource) Metadata(_ context.Context, from datasource.MetadataRequest, to *datasource.MetadataResponse) {
	to.TypeName = from.ProviderTypeName + "_vdc"
}

func (*vdcSource) Schema(_ context.Context, _ datasource.SchemaRequest, to *datasource.SchemaResponse) {
	to.Schema = schema.Schema{
		Description: "A virtual data centre, by its name.",
		Attributes: map[string]schema.Attribute{
			"name": schema.StringAttribute{Optional: true, Computed: true, Description: "Default: that of the provider, then the only one."},
			"org":  schema.StringAttribute{Optional: true, Description: "The name of its organisation. Default: that of the provider."},
			"id":   schema.StringAttribute{Computed: true},
		},
	}
}

func (v *vdcSource) Read(ctx context.Context, from datasource.ReadRequest, to *datasource.ReadResponse) {
	var state struct {
		Name types.String `tfsdk:"name"`
		Org  types.String `tfsdk:"org"`
		ID   types.String `tfsdk:"id"`
	}
	to.Diagnostics.Append(from.Config.Get(ctx, &state)...)
	if to.Diagnostics.HasError() {
		return
	}
	name := state.Name.ValueString()
	if name == "" {
		name = v.vdc
	}
	id, err := v.findVdc(ctx, state.Org.ValueString(), name)
	var document struct {
		Name string `json:"name"`
	}
	if err == nil {
		err = v.Get(ctx, "/api/vdc/"+id, &document)
	}
	if err != nil {
		to.Diagnostics.AddError("the vdc was not read", err.Error())
		return
	}
	state.ID, state.Name = types.StringValue(id), types.StringValue(document.Name)
	to.Diagnostics.Append(to.State.Set(ctx, &state)...)
}
