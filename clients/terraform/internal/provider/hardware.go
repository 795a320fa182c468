package provider

import (
	"context"
	"net/http"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"skerry.example/terraform-provider-skerry/internal/cloud"
)

// The size of a VM as a resource has it; unknown: as its template.
type size struct{ cpus, memoryMB, diskMB types.Int64 }

func sizeAttribute(what string, modifiers []planmodifier.Int64) schema.Int64Attribute {
	return schema.Int64Attribute{
		Optional:      true,
		Computed:      true,
		PlanModifiers: modifiers,
		Description:   what + " Default: that of its template. A VM that runs is stopped for the change if allow_stop is true.",
	}
}

// The sizes that differ.
func (s size) changesOf(vm cloud.VM) []cloud.Item {
	var items []cloud.Item
	for _, each := range []struct {
		kind   int
		wanted types.Int64
	}{{cloud.ItemCPUs, s.cpus}, {cloud.ItemMemory, s.memoryMB}, {cloud.ItemDisk, s.diskMB}} {
		if !each.wanted.IsNull() && !each.wanted.IsUnknown() && each.wanted.ValueInt64() != vm.Amount(each.kind) {
			items = append(items, cloud.Item{ResourceType: each.kind, VirtualQuantity: each.wanted.ValueInt64()})
		}
	}
	return items
}

func sizeOf(vm cloud.VM) size {
	return size{
		cpus:     types.Int64Value(vm.Amount(cloud.ItemCPUs)),
		memoryMB: types.Int64Value(vm.Amount(cloud.ItemMemory)),
		diskMB:   types.Int64Value(vm.Amount(cloud.ItemDisk)),
	}
}

// The VM must be off.
func (s *site) resize(ctx context.Context, vm string, items []cloud.Item) error {
	body := map[string]any{"virtualHardwareSection": map[string]any{"item": items}}
	return s.Act(ctx, http.MethodPost, "/api/vApp/"+vm+"/action/reconfigureVm", body)
}
