package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/listplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
)

func keepString() []planmodifier.String {
	return []planmodifier.String{stringplanmodifier.UseStateForUnknown()}
}

func keepInt() []planmodifier.Int64 {
	return []planmodifier.Int64{int64planmodifier.UseStateForUnknown()}
}

func keepList() []planmodifier.List {
	return []planmodifier.List{listplanmodifier.UseStateForUnknown()}
}

func replaceString() []planmodifier.String {
	return []planmodifier.String{stringplanmodifier.RequiresReplace()}
}

func idAttribute(description string) schema.StringAttribute {
	return schema.StringAttribute{Computed: true, PlanModifiers: keepString(), Description: description}
}

func vdcAttribute() schema.StringAttribute {
	return schema.StringAttribute{
		Optional: true,
		Computed: true,
		PlanModifiers: []planmodifier.String{
			stringplanmodifier.UseStateForUnknown(),
			stringplanmodifier.RequiresReplace(),
		},
		Description: "The id of its vdc. Default: the vdc of the provider.",
	}
}

// No document names the template of a VM, so that an imported VM has none.
func replaceKnownTemplate() []planmodifier.String {
	return []planmodifier.String{stringplanmodifier.RequiresReplaceIf(
		func(_ context.Context, from planmodifier.StringRequest, to *stringplanmodifier.RequiresReplaceIfFuncResponse) {
			to.RequiresReplace = !from.StateValue.IsNull()
		},
		"Another template replaces the VM.",
		"Another template replaces the VM.",
	)}
}
