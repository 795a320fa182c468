package provider

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"skerry.example/terraform-provider-skerry/internal/cloud"
)

// A VM to create in a vApp.
type sourced struct {
	name, template string
	cards          []cloud.Connection
	guest          map[string]any
	size           size
}

// The item of a request to compose or recompose a vApp.
func (s *site) item(vm sourced) map[string]any {
	item := map[string]any{"source": map[string]any{"href": s.Address("/api/vAppTemplate/" + templateID(vm.template)), "name": vm.name}}
	if vm.cards != nil {
		item["instantiationParams"] = map[string]any{"networkConnectionSection": map[string]any{"networkConnection": vm.cards}}
	}
	if len(vm.guest) > 0 {
		item["guestCustomizationSection"] = vm.guest
	}
	return item
}

func templateID(id string) string { return "vappTemplate-" + cloud.UUID(id) }

// Whether a VM of the template has these sizes from the start.
func (s *site) fits(ctx context.Context, vm sourced) (bool, error) {
	var template struct {
		NumberOfCpus, MemoryMB, DiskMB int64
	}
	if vm.size == (size{}) {
		return true, nil
	}
	if err := s.Get(ctx, "/api/vAppTemplate/"+templateID(vm.template), &template); err != nil {
		return false, err
	}
	as := cloud.VM{Hardware: &struct {
		Item []cloud.Item `json:"item"`
	}{[]cloud.Item{
		{ResourceType: cloud.ItemCPUs, VirtualQuantity: template.NumberOfCpus},
		{ResourceType: cloud.ItemMemory, VirtualQuantity: template.MemoryMB},
		{ResourceType: cloud.ItemDisk, VirtualQuantity: template.DiskMB},
	}}}
	return len(vm.size.changesOf(as)) == 0, nil
}

// Begins to create a vApp; the caller writes its id into the state, then waits.
func (s *site) compose(ctx context.Context, vdc, name string, vms []sourced, on bool) (*cloud.VApp, error) {
	items := make([]map[string]any, 0, len(vms))
	for _, vm := range vms {
		fits, err := s.fits(ctx, vm)
		if err != nil {
			return nil, err
		}
		on = on && fits
		items = append(items, s.item(vm))
	}
	var vapp cloud.VApp
	body := map[string]any{"name": name, "powerOn": on, "sourcedItem": items}
	return &vapp, s.Post(ctx, "/api/vdc/"+vdc+"/action/composeVApp", body, &vapp)
}

// What a VM is to become.
type target struct {
	size      size
	cards     []cloud.Connection
	allowStop bool
}

// Another client may begin something between two requests: the cloud refuses the second one, and all is read again.
const rounds = 5

func (s *site) inRounds(ctx context.Context, step func() error) error {
	var err error
	for range rounds {
		if err = step(); !cloud.IsConflict(err) {
			return err
		}
		if !cloud.Rest(ctx, time.Second) {
			return ctx.Err()
		}
	}
	return err
}

// A vApp when no task of it or of its VMs is open.
func (s *site) quietVapp(ctx context.Context, id string) (*cloud.VApp, error) {
	for {
		vapp, err := s.readVapp(ctx, id)
		if err != nil {
			return nil, err
		}
		busy, err := s.WaitQuiet(ctx, vapp.Tasks)
		for _, vm := range vapp.VMs() {
			if err != nil {
				break
			}
			var isBusy bool
			_, isBusy, err = s.quietVM(ctx, cloud.ID(vm.Href))
			busy = busy || isBusy
		}
		if err != nil || !busy {
			return vapp, err
		}
	}
}

// A VM when no task of it is open and its host answers, and whether a task was open.
func (s *site) quietVM(ctx context.Context, id string) (cloud.VM, bool, error) {
	until, wasBusy := time.Now().Add(silenceLimit), false
	for {
		var vm cloud.VM
		if err := s.Get(ctx, "/api/vApp/"+id, &vm); err != nil {
			return vm, wasBusy, err
		}
		busy, err := s.WaitQuiet(ctx, vm.Tasks)
		isSilent := vm.Status == cloud.StatusUnknown && time.Now().Before(until) && cloud.Rest(ctx, time.Second)
		if err != nil || !busy && !isSilent {
			return vm, wasBusy, err
		}
		wasBusy = wasBusy || busy
	}
}

// Changes a VM. One that runs is stopped for it, if that is allowed; the caller starts it again.
func (s *site) adapt(ctx context.Context, vm cloud.VM, to target) error {
	return s.inRounds(ctx, func() error { return s.adaptOnce(ctx, cloud.ID(vm.Href), to) })
}

func (s *site) adaptOnce(ctx context.Context, id string, to target) error {
	vm, _, err := s.quietVM(ctx, id)
	if err != nil {
		return err
	}
	items, change := to.size.changesOf(vm), cardChangeOf(vm, to.cards)
	if (len(items) > 0 || change == otherCards) && vm.Status != cloud.StatusOff {
		if !to.allowStop {
			return errors.New("VM " + vm.Name + " is on, and this change needs it to be off. Set allow_stop = true, or power_on = false")
		}
		if err := s.stop(ctx, id); err != nil {
			return err
		}
	}
	if len(items) > 0 {
		if err := s.resize(ctx, id, items); err != nil {
			return err
		}
	}
	if change == sameCards {
		return nil
	}
	return s.connect(ctx, id, to.cards)
}

// How long a host that does not answer is waited for.
const silenceLimit = 5 * time.Minute

// A vApp whose VMs all have a known status.
func (s *site) knownVapp(ctx context.Context, id string) (*cloud.VApp, error) {
	for until := time.Now().Add(silenceLimit); ; {
		vapp, err := s.quietVapp(ctx, id)
		if err != nil {
			return nil, err
		}
		silent := slices.ContainsFunc(vapp.VMs(), func(vm cloud.VM) bool { return vm.Status == cloud.StatusUnknown })
		if !silent || time.Now().After(until) || !cloud.Rest(ctx, time.Second) {
			return vapp, ctx.Err()
		}
	}
}

// Starts or stops a vApp, if it is not as wanted.
func (s *site) power(ctx context.Context, id string, on bool) error {
	return s.inRounds(ctx, func() error {
		vapp, err := s.knownVapp(ctx, id)
		if err != nil {
			return err
		}
		is := isOn(vapp.VMs())
		switch {
		case !is.IsNull() && is.ValueBool() == on || len(vapp.VMs()) == 0:
			return nil
		case on:
			return s.powerOn(ctx, id)
		}
		return s.stop(ctx, id)
	})
}

// The name of a resource that the cloud refused, and what it said.
func refuse(to *diag.Diagnostics, what string, err error) { to.AddError(what, err.Error()) }

func (s *site) waitVapp(ctx context.Context, vapp *cloud.VApp) (*cloud.VApp, error) {
	if err := s.WaitAll(ctx, vapp.Tasks); err != nil {
		return nil, err
	}
	return s.readVapp(ctx, cloud.ID(vapp.Href))
}
