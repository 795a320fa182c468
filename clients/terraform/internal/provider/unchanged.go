package provider

import (
	"context"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// ModifyPlan: write-only attributes are in every plan and in no state. The framework takes that for a change, and all that the cloud computes becomes
// unknown. Without another difference the plan is the state.
func (*ofSite) ModifyPlan(_ context.Context, from resource.ModifyPlanRequest, to *resource.ModifyPlanResponse) {
	if from.State.Raw.IsNull() || from.Plan.Raw.IsNull() {
		return
	}
	if isUnchanged(from.Plan.Raw, from.State.Raw) {
		to.Plan.Raw = from.State.Raw
	}
}

var writeOnly = []string{"allow_stop", "computer_name", "ssh_keys", "user_data", "password"}

// Whether the plan has the values of the state, or leaves them open.
func isUnchanged(plan, state tftypes.Value) bool {
	if !plan.IsKnown() {
		return true
	}
	if plan.IsNull() || state.IsNull() {
		return plan.IsNull() == state.IsNull()
	}
	if plan.Type().Is(tftypes.Object{}) || plan.Type().Is(tftypes.Map{}) {
		var planned, has map[string]tftypes.Value
		if plan.As(&planned) != nil || state.As(&has) != nil || len(planned) != len(has) {
			return false
		}
		for name, value := range planned {
			before, there := has[name]
			if !there || !slices.Contains(writeOnly, name) && !isUnchanged(value, before) {
				return false
			}
		}
		return true
	}
	if plan.Type().Is(tftypes.List{}) {
		var planned, has []tftypes.Value
		if plan.As(&planned) != nil || state.As(&has) != nil {
			return false
		}
		return slices.EqualFunc(planned, has, isUnchanged)
	}
	return plan.Equal(state)
}
