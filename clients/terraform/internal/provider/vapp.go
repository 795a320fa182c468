package provider

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"skerry.example/terraform-provider-skerry/internal/cloud"
)

// A vApp with any number of VMs, by name.
type vappResource struct{ ofSite }

type vappModel struct {
	ID        types.String        `tfsdk:"id"`
	Name      types.String        `tfsdk:"name"`
	Vdc       types.String        `tfsdk:"vdc"`
	PowerOn   types.Bool          `tfsdk:"power_on"`
	AllowStop types.Bool          `tfsdk:"allow_stop"`
	Metadata  types.Map           `tfsdk:"metadata"`
	VMs       map[string]*childVM `tfsdk:"vms"`
}

type childVM struct {
	ID           types.String `tfsdk:"id"`
	Template     types.String `tfsdk:"template"`
	CPUs         types.Int64  `tfsdk:"cpus"`
	MemoryMB     types.Int64  `tfsdk:"memory_mb"`
	DiskMB       types.Int64  `tfsdk:"disk_mb"`
	Cards        types.List   `tfsdk:"cards"`
	Address      types.String `tfsdk:"address"`
	ComputerName types.String `tfsdk:"computer_name"`
	SSHKeys      types.List   `tfsdk:"ssh_keys"`
	UserData     types.String `tfsdk:"user_data"`
}

func (c *childVM) size() size { return size{c.CPUs, c.MemoryMB, c.DiskMB} }

func (*vappResource) Metadata(_ context.Context, from resource.MetadataRequest, to *resource.MetadataResponse) {
	to.TypeName = from.ProviderTypeName + "_vapp"
}

func (*vappResource) Schema(_ context.Context, _ resource.SchemaRequest, to *resource.SchemaResponse) {
	to.Schema = schema.Schema{
		Description: "A vApp with several VMs, which are started and stopped together.",
		Attributes: map[string]schema.Attribute{
			"id":         idAttribute("vapp-UUID."),
			"name":       schema.StringAttribute{Required: true, Description: "It may change."},
			"vdc":        vdcAttribute(),
			"power_on":   powerAttribute(),
			"allow_stop": allowStopAttribute(),
			"metadata":   metadataAttribute(),
			"vms": schema.MapNestedAttribute{
				Required:    true,
				Description: "Its VMs by name. One that is added is created, one that is left out is deleted.",
				NestedObject: schema.NestedAttributeObject{Attributes: guestAttributes(map[string]schema.Attribute{
					"id":        schema.StringAttribute{Computed: true, PlanModifiers: []planmodifier.String{keepWithTemplate{}}, Description: "vm-UUID."},
					"template":  schema.StringAttribute{Required: true, Description: "The id of its template. Another one replaces this VM only."},
					"cpus":      sizeAttribute("Processors.", nil),
					"memory_mb": sizeAttribute("MiB of memory.", nil),
					"disk_mb":   sizeAttribute("MiB of its disk, which cannot shrink.", nil),
					"cards":     cardsAttribute(nil),
					"address":   schema.StringAttribute{Computed: true, Description: "The first address of its cards."},
				})},
			},
		},
	}
}

// What the plan wants of each VM; the guest data is in the configuration only.
func sourcesOf(ctx context.Context, plan, config vappModel, to *diag.Diagnostics) map[string]sourced {
	found := map[string]sourced{}
	for name, vm := range plan.VMs {
		given := config.VMs[name]
		each := sourced{name: name, template: vm.Template.ValueString(), size: vm.size()}
		if !given.Cards.IsNull() {
			each.cards = cardsIn(ctx, vm.Cards, to)
		}
		each.guest = guest{given.ComputerName, given.SSHKeys, given.UserData}.section(ctx, to)
		found[name] = each
	}
	return found
}

func (r *vappResource) Create(ctx context.Context, from resource.CreateRequest, to *resource.CreateResponse) {
	var plan, config vappModel
	to.Diagnostics.Append(from.Plan.Get(ctx, &plan)...)
	to.Diagnostics.Append(from.Config.Get(ctx, &config)...)
	if to.Diagnostics.HasError() {
		return
	}
	sources := sourcesOf(ctx, plan, config, &to.Diagnostics)
	if to.Diagnostics.HasError() {
		return
	}
	const what = "the vApp was not created"
	vdc, err := r.vdcID(ctx, plan.Vdc)
	if err != nil {
		refuse(&to.Diagnostics, what, err)
		return
	}
	vms := make([]sourced, 0, len(sources))
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		vms = append(vms, sources[name])
	}
	vapp, err := r.compose(ctx, vdc, plan.Name.ValueString(), vms, plan.PowerOn.ValueBool())
	if err != nil {
		refuse(&to.Diagnostics, what, err)
		return
	}
	plan.ID, plan.Vdc = types.StringValue(cloud.ID(vapp.Href)), types.StringValue(vdc)
	// In the state before it is waited for: the next apply replaces what fails halfway.
	to.Diagnostics.Append(to.State.SetAttribute(ctx, path.Root("id"), plan.ID)...)
	if vapp, err = r.waitVapp(ctx, vapp); err == nil {
		err = r.finish(ctx, &plan, vapp, sources, true)
	}
	if err != nil {
		refuse(&to.Diagnostics, what, err)
		return
	}
	to.Diagnostics.Append(to.State.Set(ctx, &plan)...)
}

// Makes all VMs as planned, and shows them.
func (r *vappResource) finish(ctx context.Context, plan *vappModel, vapp *cloud.VApp, sources map[string]sourced, allowed bool) error {
	for _, vm := range vapp.VMs() {
		source, wanted := sources[vm.Name]
		if !wanted {
			continue
		}
		if err := r.adapt(ctx, vm, target{size: source.size, cards: source.cards, allowStop: allowed}); err != nil {
			return err
		}
	}
	id := plan.ID.ValueString()
	if err := r.writeMetadata(ctx, id, plan.Metadata); err != nil {
		return err
	}
	if err := r.power(ctx, id, plan.PowerOn.ValueBool()); err != nil {
		return err
	}
	// What changes after this is drift, for the next plan.
	on := plan.PowerOn
	err := r.show(ctx, plan)
	plan.PowerOn = on
	return err
}

func (r *vappResource) show(ctx context.Context, model *vappModel) error {
	vapp, err := r.readVapp(ctx, model.ID.ValueString())
	if err != nil {
		return err
	}
	imported := model.Name.IsNull()
	model.Name = types.StringValue(vapp.Name)
	model.Vdc = types.StringValue(cloud.Up(vapp.Link))
	model.PowerOn = shownPower(vapp.VMs(), model.PowerOn)
	before := model.VMs
	model.VMs = map[string]*childVM{}
	for _, vm := range vapp.VMs() {
		shown := &childVM{
			ID:      types.StringValue(cloud.ID(vm.Href)),
			Address: addressOf(vm),
			SSHKeys: types.ListNull(types.StringType),
		}
		is := sizeOf(vm)
		shown.CPUs, shown.MemoryMB, shown.DiskMB = is.cpus, is.memoryMB, is.diskMB
		cards, problems := cardsOf(vm)
		if problems.HasError() {
			return fmt.Errorf("the cards of %s cannot be shown", vm.Name)
		}
		shown.Cards = cards
		if known := before[vm.Name]; known != nil {
			shown.Template = known.Template
		}
		model.VMs[vm.Name] = shown
	}
	model.Metadata, err = r.shownMetadata(ctx, model.ID.ValueString(), model.Metadata, imported)
	return err
}

func (r *vappResource) Read(ctx context.Context, from resource.ReadRequest, to *resource.ReadResponse) {
	var state vappModel
	to.Diagnostics.Append(from.State.Get(ctx, &state)...)
	if to.Diagnostics.HasError() {
		return
	}
	templates, problems := from.Private.GetKey(ctx, "template")
	to.Diagnostics.Append(problems...)
	err := r.show(ctx, &state)
	if cloud.IsGone(err) {
		to.State.RemoveResource(ctx)
		return
	}
	if err != nil {
		refuse(&to.Diagnostics, "the vApp was not read", err)
		return
	}
	// An import that names a template means it for every VM.
	if len(templates) > 0 {
		for _, vm := range state.VMs {
			vm.Template = types.StringValue(strings.Trim(string(templates), `"`))
		}
		to.Diagnostics.Append(to.Private.SetKey(ctx, "template", nil)...)
	}
	to.Diagnostics.Append(to.State.Set(ctx, &state)...)
}

func (r *vappResource) Update(ctx context.Context, from resource.UpdateRequest, to *resource.UpdateResponse) {
	var plan, state, config vappModel
	to.Diagnostics.Append(from.Plan.Get(ctx, &plan)...)
	to.Diagnostics.Append(from.State.Get(ctx, &state)...)
	to.Diagnostics.Append(from.Config.Get(ctx, &config)...)
	if to.Diagnostics.HasError() {
		return
	}
	sources := sourcesOf(ctx, plan, config, &to.Diagnostics)
	if to.Diagnostics.HasError() {
		return
	}
	allowed := config.AllowStop.ValueBool() || !plan.PowerOn.ValueBool()
	if err := r.change(ctx, &plan, state, sources, allowed); err != nil {
		refuse(&to.Diagnostics, "the vApp was not changed", err)
		return
	}
	to.Diagnostics.Append(to.State.Set(ctx, &plan)...)
}

func (r *vappResource) change(ctx context.Context, plan *vappModel, state vappModel, sources map[string]sourced, allowed bool) error {
	id := plan.ID.ValueString()
	vapp, err := r.readVapp(ctx, id)
	if err != nil {
		return err
	}
	if name := plan.Name.ValueString(); vapp.Name != name {
		if err := r.rename(ctx, id, name); err != nil {
			return err
		}
	}
	if err := r.removeVMs(ctx, vapp, plan, state); err != nil {
		return err
	}
	if err := r.addVMs(ctx, id, sources); err != nil {
		return err
	}
	if vapp, err = r.readVapp(ctx, id); err != nil {
		return err
	}
	return r.finish(ctx, plan, vapp, sources, allowed)
}

// Deletes the VMs that the plan leaves out, or wants from another template.
func (r *vappResource) removeVMs(ctx context.Context, vapp *cloud.VApp, plan *vappModel, state vappModel) error {
	for _, vm := range vapp.VMs() {
		wanted, kept := plan.VMs[vm.Name]
		was := state.VMs[vm.Name]
		isOther := kept && was != nil && !was.Template.IsNull() && !was.Template.Equal(wanted.Template)
		if kept && !isOther {
			continue
		}
		if err := r.deleteVM(ctx, cloud.ID(vm.Href)); err != nil && !cloud.IsGone(err) {
			return err
		}
	}
	return nil
}

func (r *vappResource) deleteVM(ctx context.Context, id string) error {
	return r.inRounds(ctx, func() error {
		vm, _, err := r.quietVM(ctx, id)
		if err == nil && vm.Status == cloud.StatusOn {
			err = r.stop(ctx, id)
		}
		if err != nil {
			return err
		}
		return r.Act(ctx, http.MethodDelete, "/api/vApp/"+id, nil)
	})
}

func (r *vappResource) addVMs(ctx context.Context, id string, sources map[string]sourced) error {
	vapp, err := r.readVapp(ctx, id)
	if err != nil {
		return err
	}
	there := map[string]bool{}
	for _, vm := range vapp.VMs() {
		there[vm.Name] = true
	}
	items := []map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		if !there[name] {
			items = append(items, r.item(sources[name]))
		}
	}
	if len(items) == 0 {
		return nil
	}
	return r.Act(ctx, http.MethodPost, "/api/vApp/"+id+"/action/recomposeVApp", map[string]any{"sourcedItem": items})
}

func (r *vappResource) Delete(ctx context.Context, from resource.DeleteRequest, to *resource.DeleteResponse) {
	var id types.String
	to.Diagnostics.Append(from.State.GetAttribute(ctx, path.Root("id"), &id)...)
	if err := r.deleteVapp(ctx, id.ValueString()); err != nil {
		refuse(&to.Diagnostics, "the vApp was not deleted", err)
	}
}

// The id of the vApp; behind a comma, the id of the template of all its VMs.
func (*vappResource) ImportState(ctx context.Context, from resource.ImportStateRequest, to *resource.ImportStateResponse) {
	id, template, _ := strings.Cut(from.ID, ",")
	if !strings.HasPrefix(id, "vapp-") {
		to.Diagnostics.AddError("this is not the id of a vApp", "Import vapp-UUID, or vapp-UUID,vappTemplate-UUID: `skerry vapp list --json` lists them.")
		return
	}
	to.Diagnostics.Append(to.State.SetAttribute(ctx, path.Root("id"), id)...)
	if template != "" {
		to.Diagnostics.Append(to.Private.SetKey(ctx, "template", []byte(`"`+template+`"`))...)
	}
}
