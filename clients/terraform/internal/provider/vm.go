package provider

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"skerry.example/terraform-provider-skerry/internal/cloud"
)

// A VM in a vApp of its own.
type vmResource struct{ ofSite }

type vmModel struct {
	ID           types.String `tfsdk:"id"`
	VMID         types.String `tfsdk:"vm_id"`
	Name         types.String `tfsdk:"name"`
	Vdc          types.String `tfsdk:"vdc"`
	Template     types.String `tfsdk:"template"`
	CPUs         types.Int64  `tfsdk:"cpus"`
	MemoryMB     types.Int64  `tfsdk:"memory_mb"`
	DiskMB       types.Int64  `tfsdk:"disk_mb"`
	PowerOn      types.Bool   `tfsdk:"power_on"`
	AllowStop    types.Bool   `tfsdk:"allow_stop"`
	Cards        types.List   `tfsdk:"cards"`
	Metadata     types.Map    `tfsdk:"metadata"`
	Address      types.String `tfsdk:"address"`
	ComputerName types.String `tfsdk:"computer_name"`
	SSHKeys      types.List   `tfsdk:"ssh_keys"`
	UserData     types.String `tfsdk:"user_data"`
}

func (m *vmModel) size() size { return size{m.CPUs, m.MemoryMB, m.DiskMB} }

func (*vmResource) Metadata(_ context.Context, from resource.MetadataRequest, to *resource.MetadataResponse) {
	to.TypeName = from.ProviderTypeName + "_vm"
}

func (*vmResource) Schema(_ context.Context, _ resource.SchemaRequest, to *resource.SchemaResponse) {
	to.Schema = schema.Schema{
		Description: "A VM in a vApp of its own, which has the same name.",
		Attributes: guestAttributes(map[string]schema.Attribute{
			"id":         idAttribute("The id of its vApp: vapp-UUID."),
			"vm_id":      idAttribute("The id of the VM: vm-UUID."),
			"name":       schema.StringAttribute{Required: true, Description: "It may change."},
			"vdc":        vdcAttribute(),
			"template":   schema.StringAttribute{Required: true, PlanModifiers: replaceKnownTemplate(), Description: "The id of its template. Another one replaces the VM."},
			"cpus":       sizeAttribute("Processors.", keepInt()),
			"memory_mb":  sizeAttribute("MiB of memory.", keepInt()),
			"disk_mb":    sizeAttribute("MiB of its disk, which cannot shrink.", keepInt()),
			"power_on":   powerAttribute(),
			"allow_stop": allowStopAttribute(),
			"cards":      cardsAttribute(keepList()),
			"metadata":   metadataAttribute(),
			"address":    schema.StringAttribute{Computed: true, Description: "The first address of its cards."},
		}),
	}
}

func powerAttribute() schema.BoolAttribute {
	return schema.BoolAttribute{
		Optional:    true,
		Computed:    true,
		Default:     booldefault.StaticBool(true),
		Description: "Whether it runs. Default: true. To stop it, the guest is shut down; one that does not end is powered off.",
	}
}

func allowStopAttribute() schema.BoolAttribute {
	return schema.BoolAttribute{Optional: true, WriteOnly: true, Description: "Whether a change that needs it may stop what runs. Default: false, the change is an error."}
}

func (r *vmResource) Create(ctx context.Context, from resource.CreateRequest, to *resource.CreateResponse) {
	var plan, config vmModel
	to.Diagnostics.Append(from.Plan.Get(ctx, &plan)...)
	to.Diagnostics.Append(from.Config.Get(ctx, &config)...)
	vm := sourced{
		name:     plan.Name.ValueString(),
		template: plan.Template.ValueString(),
		size:     plan.size(),
		cards:    cardsIn(ctx, plan.Cards, &to.Diagnostics),
		guest:    guest{config.ComputerName, config.SSHKeys, config.UserData}.section(ctx, &to.Diagnostics),
	}
	if to.Diagnostics.HasError() {
		return
	}
	const what = "the VM was not created"
	vdc, err := r.vdcID(ctx, plan.Vdc)
	if err != nil {
		refuse(&to.Diagnostics, what, err)
		return
	}
	vapp, err := r.compose(ctx, vdc, vm.name, []sourced{vm}, plan.PowerOn.ValueBool())
	if err != nil {
		refuse(&to.Diagnostics, what, err)
		return
	}
	plan.ID, plan.Vdc = types.StringValue(cloud.ID(vapp.Href)), types.StringValue(vdc)
	// In the state before it is waited for: the next apply replaces what fails halfway.
	to.Diagnostics.Append(to.State.SetAttribute(ctx, path.Root("id"), plan.ID)...)
	vapp, err = r.waitVapp(ctx, vapp)
	if err == nil {
		err = r.finish(ctx, &plan, vapp, target{size: vm.size})
	}
	if err != nil {
		refuse(&to.Diagnostics, what, err)
		return
	}
	to.Diagnostics.Append(to.State.Set(ctx, &plan)...)
}

// Makes the VM as planned, and shows it.
func (r *vmResource) finish(ctx context.Context, plan *vmModel, vapp *cloud.VApp, wanted target) error {
	vm, err := onlyVM(vapp)
	if err != nil {
		return err
	}
	if err := r.adapt(ctx, vm, wanted); err != nil {
		return err
	}
	if err := r.writeMetadata(ctx, cloud.ID(vm.Href), plan.Metadata); err != nil {
		return err
	}
	id := plan.ID.ValueString()
	if err := r.power(ctx, id, plan.PowerOn.ValueBool()); err != nil {
		return err
	}
	// What changes after this is drift, for the next plan.
	on := plan.PowerOn
	err = r.show(ctx, plan)
	plan.PowerOn = on
	return err
}

func onlyVM(vapp *cloud.VApp) (cloud.VM, error) {
	vms := vapp.VMs()
	if len(vms) != 1 {
		return cloud.VM{}, fmt.Errorf("vApp %s has %d VMs, not one: use skerry_vapp for it", vapp.Name, len(vms))
	}
	return vms[0], nil
}

// Reads the VM into the model.
func (r *vmResource) show(ctx context.Context, model *vmModel) error {
	vapp, err := r.readVapp(ctx, model.ID.ValueString())
	if err != nil {
		return err
	}
	vm, err := onlyVM(vapp)
	if err != nil {
		return err
	}
	imported := model.Name.IsNull()
	model.VMID = types.StringValue(cloud.ID(vm.Href))
	model.Name = types.StringValue(vapp.Name)
	model.Vdc = types.StringValue(cloud.Up(vapp.Link))
	is := sizeOf(vm)
	model.CPUs, model.MemoryMB, model.DiskMB = is.cpus, is.memoryMB, is.diskMB
	model.PowerOn = shownPower([]cloud.VM{vm}, model.PowerOn)
	model.Address = addressOf(vm)
	cards, problems := cardsOf(vm)
	if problems.HasError() {
		return fmt.Errorf("the cards of %s cannot be shown", vapp.Name)
	}
	model.Cards = cards
	model.Metadata, err = r.shownMetadata(ctx, model.VMID.ValueString(), model.Metadata, imported)
	return err
}

func (r *vmResource) Read(ctx context.Context, from resource.ReadRequest, to *resource.ReadResponse) {
	var state vmModel
	to.Diagnostics.Append(from.State.Get(ctx, &state)...)
	if to.Diagnostics.HasError() {
		return
	}
	err := r.show(ctx, &state)
	if cloud.IsGone(err) {
		to.State.RemoveResource(ctx)
		return
	}
	if err != nil {
		refuse(&to.Diagnostics, "the VM was not read", err)
		return
	}
	to.Diagnostics.Append(to.State.Set(ctx, &state)...)
}

func (r *vmResource) Update(ctx context.Context, from resource.UpdateRequest, to *resource.UpdateResponse) {
	var plan, state, config vmModel
	to.Diagnostics.Append(from.Plan.Get(ctx, &plan)...)
	to.Diagnostics.Append(from.State.Get(ctx, &state)...)
	to.Diagnostics.Append(from.Config.Get(ctx, &config)...)
	wanted := target{size: plan.size(), allowStop: config.AllowStop.ValueBool() || !plan.PowerOn.ValueBool()}
	// Cards that the configuration leaves out are not changed.
	if !config.Cards.IsNull() {
		wanted.cards = cardsIn(ctx, plan.Cards, &to.Diagnostics)
	}
	if to.Diagnostics.HasError() {
		return
	}
	planned := plan.Cards
	err := r.change(ctx, &plan, state, wanted)
	if err != nil {
		refuse(&to.Diagnostics, "the VM was not changed", err)
		return
	}
	if config.Cards.IsNull() {
		plan.Cards = planned
	}
	to.Diagnostics.Append(to.State.Set(ctx, &plan)...)
}

func (r *vmResource) change(ctx context.Context, plan *vmModel, state vmModel, wanted target) error {
	id := plan.ID.ValueString()
	vapp, err := r.readVapp(ctx, id)
	if err != nil {
		return err
	}
	if name := plan.Name.ValueString(); vapp.Name != name {
		vm, err := onlyVM(vapp)
		if err != nil {
			return err
		}
		if vm.Name == state.Name.ValueString() {
			if err := r.rename(ctx, cloud.ID(vm.Href), name); err != nil {
				return err
			}
		}
		if err := r.rename(ctx, id, name); err != nil {
			return err
		}
	}
	return r.finish(ctx, plan, vapp, wanted)
}

func (r *vmResource) Delete(ctx context.Context, from resource.DeleteRequest, to *resource.DeleteResponse) {
	var state vmModel
	to.Diagnostics.Append(from.State.Get(ctx, &state)...)
	if err := r.deleteVapp(ctx, state.ID.ValueString()); err != nil {
		refuse(&to.Diagnostics, "the VM was not deleted", err)
	}
}

// The id of the vApp; behind a comma, the id of the template that the configuration names.
func (*vmResource) ImportState(ctx context.Context, from resource.ImportStateRequest, to *resource.ImportStateResponse) {
	id, template, _ := strings.Cut(from.ID, ",")
	if !strings.HasPrefix(id, "vapp-") {
		to.Diagnostics.AddError("this is not the id of a vApp", "Import vapp-UUID, or vapp-UUID,vappTemplate-UUID: `skerry vapp list --json` lists them.")
		return
	}
	to.Diagnostics.Append(to.State.SetAttribute(ctx, path.Root("id"), id)...)
	if template != "" {
		to.Diagnostics.Append(to.State.SetAttribute(ctx, path.Root("template"), template)...)
	}
}
