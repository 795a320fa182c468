package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// The id of a VM in a vApp stays while its template does: another template replaces the VM.
type keepWithTemplate struct{}

func (keepWithTemplate) Description(context.Context) string {
	return "It stays while the template stays."
}

func (k keepWithTemplate) MarkdownDescription(ctx context.Context) string { return k.Description(ctx) }

func (keepWithTemplate) PlanModifyString(ctx context.Context, from planmodifier.StringRequest, to *planmodifier.StringResponse) {
	if from.StateValue.IsNull() || !from.PlanValue.IsUnknown() {
		return
	}
	template := from.Path.ParentPath().AtName("template")
	var planned, was types.String
	to.Diagnostics.Append(from.Plan.GetAttribute(ctx, template, &planned)...)
	to.Diagnostics.Append(from.State.GetAttribute(ctx, template, &was)...)
	if was.IsNull() || planned.Equal(was) {
		to.PlanValue = from.StateValue
	}
}
