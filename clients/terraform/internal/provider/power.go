package provider

import (
	"context"
	"net/http"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"skerry.example/terraform-provider-skerry/internal/cloud"
)

func (s *site) powerOn(ctx context.Context, entity string) error {
	return s.Act(ctx, http.MethodPost, "/api/vApp/"+entity+"/power/action/powerOn", nil)
}

// Shuts the guest down. If it does not end, its power is cut.
func (s *site) stop(ctx context.Context, entity string) error {
	path := "/api/vApp/" + entity + "/action/undeploy"
	err := s.Act(ctx, http.MethodPost, path, map[string]any{"undeployPowerAction": "shutdown"})
	if err == nil || ctx.Err() != nil {
		return err
	}
	return s.cutPower(ctx, entity)
}

func (s *site) cutPower(ctx context.Context, entity string) error {
	return s.Act(ctx, http.MethodPost, "/api/vApp/"+entity+"/action/undeploy", map[string]any{"undeployPowerAction": "powerOff"})
}

// Whether all VMs run, or none. Null: some do, or one is neither on nor off.
func isOn(vms []cloud.VM) types.Bool {
	on, off := 0, 0
	for _, vm := range vms {
		switch vm.Status {
		case cloud.StatusOn:
			on++
		case cloud.StatusOff:
			off++
		}
	}
	switch {
	case on == len(vms) && on > 0:
		return types.BoolValue(true)
	case off == len(vms):
		return types.BoolValue(false)
	}
	return types.BoolNull()
}

// The same for the state. While a host does not answer, what was known before stays: silence is no drift.
func shownPower(vms []cloud.VM, before types.Bool) types.Bool {
	for _, vm := range vms {
		if vm.Status == cloud.StatusUnknown {
			return before
		}
	}
	return isOn(vms)
}

// Deletes a vApp with its VMs, which may run. Deleting what is gone is no error.
func (s *site) deleteVapp(ctx context.Context, id string) error {
	err := s.inRounds(ctx, func() error {
		vapp, err := s.quietVapp(ctx, id)
		if err == nil && isRunning(vapp.VMs()) {
			err = s.cutPower(ctx, id)
		}
		if err != nil {
			return err
		}
		return s.Act(ctx, http.MethodDelete, "/api/vApp/"+id, nil)
	})
	if cloud.IsGone(err) {
		return nil
	}
	return err
}

func isRunning(vms []cloud.VM) bool {
	for _, vm := range vms {
		if vm.Status == cloud.StatusOn {
			return true
		}
	}
	return false
}

func (s *site) readVapp(ctx context.Context, id string) (*cloud.VApp, error) {
	var vapp cloud.VApp
	return &vapp, s.Get(ctx, "/api/vApp/"+id, &vapp)
}

func (s *site) rename(ctx context.Context, entity, name string) error {
	return s.Act(ctx, http.MethodPut, "/api/vApp/"+entity, map[string]any{"name": name})
}
