package provider

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"skerry.example/terraform-provider-skerry/internal/cloud"
)

// A template by its name.
type templateSource struct{ readsSite }

func (*templateSource) Metadata(_ context.Context, from datasource.MetadataRequest, to *datasource.MetadataResponse) {
	to.TypeName = from.ProviderTypeName + "_template"
}

func (*templateSource) Schema(_ context.Context, _ datasource.SchemaRequest, to *datasource.SchemaResponse) {
	to.Schema = schema.Schema{
		Description: "A template for VMs, by its name.",
		Attributes: map[string]schema.Attribute{
			"name":      schema.StringAttribute{Required: true},
			"id":        schema.StringAttribute{Computed: true, Description: "vappTemplate-UUID."},
			"cpus":      schema.Int64Attribute{Computed: true, Description: "Processors of its VMs."},
			"memory_mb": schema.Int64Attribute{Computed: true, Description: "MiB of memory of its VMs."},
			"disk_mb":   schema.Int64Attribute{Computed: true, Description: "MiB of the disk of its VMs."},
		},
	}
}

func (t *templateSource) Read(ctx context.Context, from datasource.ReadRequest, to *datasource.ReadResponse) {
	var state struct {
		Name     types.String `tfsdk:"name"`
		ID       types.String `tfsdk:"id"`
		CPUs     types.Int64  `tfsdk:"cpus"`
		MemoryMB types.Int64  `tfsdk:"memory_mb"`
		DiskMB   types.Int64  `tfsdk:"disk_mb"`
	}
	to.Diagnostics.Append(from.Config.Get(ctx, &state)...)
	if to.Diagnostics.HasError() {
		return
	}
	var found struct {
		Record []struct {
			Name         string `json:"name"`
			Href         string `json:"href"`
			NumberOfCpus int64  `json:"numberOfCpus"`
			MemoryMB     int64  `json:"memoryMB"`
			DiskMB       int64  `json:"diskMB"`
		} `json:"vAppTemplateRecord"`
	}
	name := state.Name.ValueString()
	err := t.Get(ctx, "/api/query?type=vAppTemplate&"+cloud.Filter("name", name), &found)
	if err == nil && len(found.Record) != 1 {
		err = fmt.Errorf("%d templates have the name %s: `skerry template list` lists them", len(found.Record), name)
	}
	if err != nil {
		to.Diagnostics.AddError("the template was not read", err.Error())
		return
	}
	record := found.Record[0]
	state.ID = types.StringValue(cloud.ID(record.Href))
	state.CPUs, state.MemoryMB, state.DiskMB = types.Int64Value(record.NumberOfCpus), types.Int64Value(record.MemoryMB), types.Int64Value(record.DiskMB)
	to.Diagnostics.Append(to.State.Set(ctx, &state)...)
}
