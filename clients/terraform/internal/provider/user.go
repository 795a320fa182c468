package provider

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"skerry.example/terraform-provider-skerry/internal/cloud"
)

// A user of an organisation. The cloud keeps users for its audit log, so that destroying one disables it.
type userResource struct{ ofSite }

type userModel struct {
	ID              types.String `tfsdk:"id"`
	Name            types.String `tfsdk:"name"`
	Org             types.String `tfsdk:"org"`
	Role            types.String `tfsdk:"role"`
	Enabled         types.Bool   `tfsdk:"enabled"`
	Password        types.String `tfsdk:"password"`
	PasswordVersion types.Int64  `tfsdk:"password_version"`
}

type userDocument struct {
	Href      string           `json:"href,omitempty"`
	Name      string           `json:"name,omitempty"`
	Link      []cloud.Link     `json:"link,omitempty"`
	IsEnabled *bool            `json:"isEnabled,omitempty"`
	Role      *cloud.Reference `json:"role,omitempty"`
	Password  string           `json:"password,omitempty"`
}

func (*userResource) Metadata(_ context.Context, from resource.MetadataRequest, to *resource.MetadataResponse) {
	to.TypeName = from.ProviderTypeName + "_user"
}

func (*userResource) Schema(_ context.Context, _ resource.SchemaRequest, to *resource.SchemaResponse) {
	to.Schema = schema.Schema{
		Description: "A user of an organisation with a password. The cloud keeps its users: destroying one disables it.",
		Attributes: map[string]schema.Attribute{
			"id":   idAttribute("The UUID of the user."),
			"name": schema.StringAttribute{Required: true, PlanModifiers: replaceString()},
			"org": schema.StringAttribute{
				Optional: true, Computed: true,
				PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown(), stringplanmodifier.RequiresReplace()},
				Description:   "The id of the organisation. Default: that of the provider.",
			},
			"role":             schema.StringAttribute{Required: true, Description: "console only, user, author, organisation administrator or system administrator."},
			"enabled":          schema.BoolAttribute{Optional: true, Computed: true, Default: booldefault.StaticBool(true), Description: "Whether the user can log in."},
			"password":         schema.StringAttribute{Required: true, WriteOnly: true, Sensitive: true, Description: "It is not in the state. Another one is set when password_version changes."},
			"password_version": schema.Int64Attribute{Optional: true, Description: "Any number. With another one, the password is set again, which ends the user's sessions and API tokens."},
		},
	}
}

func (r *userResource) Create(ctx context.Context, from resource.CreateRequest, to *resource.CreateResponse) {
	var plan, config userModel
	to.Diagnostics.Append(from.Plan.Get(ctx, &plan)...)
	to.Diagnostics.Append(from.Config.Get(ctx, &config)...)
	if to.Diagnostics.HasError() {
		return
	}
	if err := r.create(ctx, &plan, config.Password.ValueString()); err != nil {
		refuse(&to.Diagnostics, "the user was not created", err)
		return
	}
	to.Diagnostics.Append(to.State.SetAttribute(ctx, path.Root("id"), plan.ID)...)
	if !plan.Enabled.ValueBool() {
		if err := r.change(ctx, plan.ID, userDocument{IsEnabled: plan.Enabled.ValueBoolPointer()}); err != nil {
			refuse(&to.Diagnostics, "the user was not disabled", err)
			return
		}
	}
	to.Diagnostics.Append(to.State.Set(ctx, &plan)...)
}

func (r *userResource) create(ctx context.Context, plan *userModel, password string) error {
	if plan.Org.ValueString() == "" {
		org, err := r.findOrg(ctx, "")
		if err != nil {
			return err
		}
		plan.Org = types.StringValue(cloud.ID(org.Href))
	}
	body := userDocument{Name: plan.Name.ValueString(), Role: &cloud.Reference{Name: plan.Role.ValueString()}, Password: password}
	var made userDocument
	err := r.Post(ctx, "/api/admin/org/"+plan.Org.ValueString()+"/users", body, &made)
	if cloud.IsConflict(err) {
		found, searched := r.find(ctx, plan)
		if searched != nil || found == "" {
			return err
		}
		if !cloud.MayBeDone(err) {
			return fmt.Errorf("%w. The cloud keeps disabled users: import this one with its id %s", err, found)
		}
		// A request of this call was carried out, and its answer was lost.
		plan.ID = types.StringValue(found)
		return nil
	}
	plan.ID = types.StringValue(cloud.ID(made.Href))
	return err
}

func (r *userResource) find(ctx context.Context, plan *userModel) (string, error) {
	var org struct {
		Users struct {
			Reference []cloud.Reference `json:"userReference"`
		} `json:"users"`
	}
	if err := r.Get(ctx, "/api/admin/org/"+plan.Org.ValueString(), &org); err != nil {
		return "", err
	}
	for _, each := range org.Users.Reference {
		if each.Name == plan.Name.ValueString() {
			return cloud.ID(each.Href), nil
		}
	}
	return "", nil
}

func (r *userResource) change(ctx context.Context, id types.String, body userDocument) error {
	return r.Put(ctx, "/api/admin/user/"+id.ValueString(), body, nil)
}

func (r *userResource) Read(ctx context.Context, from resource.ReadRequest, to *resource.ReadResponse) {
	var state userModel
	to.Diagnostics.Append(from.State.Get(ctx, &state)...)
	if to.Diagnostics.HasError() {
		return
	}
	var is userDocument
	err := r.Get(ctx, "/api/admin/user/"+state.ID.ValueString(), &is)
	if cloud.IsGone(err) {
		to.State.RemoveResource(ctx)
		return
	}
	if err != nil {
		refuse(&to.Diagnostics, "the user was not read", err)
		return
	}
	state.Name, state.Org = types.StringValue(is.Name), types.StringValue(cloud.Up(is.Link))
	state.Enabled = types.BoolValue(is.IsEnabled != nil && *is.IsEnabled)
	if is.Role != nil {
		state.Role = types.StringValue(is.Role.Name)
	}
	to.Diagnostics.Append(to.State.Set(ctx, &state)...)
}

func (r *userResource) Update(ctx context.Context, from resource.UpdateRequest, to *resource.UpdateResponse) {
	var plan, state, config userModel
	to.Diagnostics.Append(from.Plan.Get(ctx, &plan)...)
	to.Diagnostics.Append(from.State.Get(ctx, &state)...)
	to.Diagnostics.Append(from.Config.Get(ctx, &config)...)
	if to.Diagnostics.HasError() {
		return
	}
	body := userDocument{IsEnabled: plan.Enabled.ValueBoolPointer(), Role: &cloud.Reference{Name: plan.Role.ValueString()}}
	if !plan.PasswordVersion.Equal(state.PasswordVersion) {
		body.Password = config.Password.ValueString()
	}
	if err := r.change(ctx, plan.ID, body); err != nil {
		refuse(&to.Diagnostics, "the user was not changed", err)
		return
	}
	to.Diagnostics.Append(to.State.Set(ctx, &plan)...)
}

func (r *userResource) Delete(ctx context.Context, from resource.DeleteRequest, to *resource.DeleteResponse) {
	var id types.String
	to.Diagnostics.Append(from.State.GetAttribute(ctx, path.Root("id"), &id)...)
	disabled := false
	if err := r.change(ctx, id, userDocument{IsEnabled: &disabled}); err != nil && !cloud.IsGone(err) {
		refuse(&to.Diagnostics, "the user was not disabled", err)
	}
}

func (*userResource) ImportState(ctx context.Context, from resource.ImportStateRequest, to *resource.ImportStateResponse) {
	resource.ImportStatePassthroughID(ctx, path.Root("id"), from, to)
}
