package provider

import (
	"context"
	"crypto/rand"
	"errors"
	"math"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"skerry.example/terraform-provider-skerry/internal/cloud"
)

// An API token. Only a session that began with a password creates one.
type tokenResource struct{ ofSite }

type tokenModel struct {
	ID       types.String `tfsdk:"id"`
	Name     types.String `tfsdk:"name"`
	User     types.String `tfsdk:"user"`
	Password types.String `tfsdk:"password"`
	Days     types.Int64  `tfsdk:"days"`
	Expires  types.String `tfsdk:"expires"`
	Secret   types.String `tfsdk:"secret"`
}

type tokenDocument struct {
	Href        string `json:"href"`
	Name        string `json:"name"`
	DateCreated string `json:"dateCreated"`
	Expires     string `json:"expires"`
	Token       string `json:"token"`
}

func (*tokenResource) Metadata(_ context.Context, from resource.MetadataRequest, to *resource.MetadataResponse) {
	to.TypeName = from.ProviderTypeName + "_token"
}

func (*tokenResource) Schema(_ context.Context, _ resource.SchemaRequest, to *resource.SchemaResponse) {
	to.Schema = schema.Schema{
		Description: "An API token of a user, whose password is needed to create it. Its secret is in the state.",
		Attributes: map[string]schema.Attribute{
			"id":       idAttribute("The UUID of the token."),
			"name":     schema.StringAttribute{Required: true, PlanModifiers: replaceString()},
			"user":     schema.StringAttribute{Required: true, PlanModifiers: replaceString(), Description: "NAME@ORGANISATION."},
			"password": schema.StringAttribute{Required: true, WriteOnly: true, Sensitive: true, Description: "The password of the user. It is not in the state."},
			"days": schema.Int64Attribute{
				Optional:      true,
				PlanModifiers: []planmodifier.Int64{int64planmodifier.RequiresReplace()},
				Description:   "Days until it expires. Default: it is valid until it is revoked.",
			},
			"expires": schema.StringAttribute{Computed: true, PlanModifiers: keepString()},
			"secret":  schema.StringAttribute{Computed: true, Sensitive: true, PlanModifiers: keepString(), Description: "The token itself. An imported one has none."},
		},
	}
}

func (r *tokenResource) Create(ctx context.Context, from resource.CreateRequest, to *resource.CreateResponse) {
	var plan, config tokenModel
	to.Diagnostics.Append(from.Plan.Get(ctx, &plan)...)
	to.Diagnostics.Append(from.Config.Get(ctx, &config)...)
	if to.Diagnostics.HasError() {
		return
	}
	made, err := r.create(ctx, plan, config.Password.ValueString())
	if err != nil {
		refuse(&to.Diagnostics, "the token was not created", err)
		return
	}
	plan.ID, plan.Secret = types.StringValue(cloud.ID(made.Href)), types.StringValue(made.Token)
	plan.Expires = textOrNull(made.Expires)
	to.Diagnostics.Append(to.State.Set(ctx, &plan)...)
}

func (r *tokenResource) create(ctx context.Context, plan tokenModel, password string) (tokenDocument, error) {
	var made tokenDocument
	session, err := r.LogIn(ctx, plan.User.ValueString(), password)
	if err != nil {
		return made, err
	}
	// A session that stays ends by itself; the secret of the token must not be lost with this error.
	defer func() { _ = session.LogOut(ctx) }()
	body := map[string]any{"name": plan.Name.ValueString()}
	if !plan.Days.IsNull() {
		body["days"] = plan.Days.ValueInt64()
	}
	key := rand.Text()
	for range rounds {
		err = session.PostAs(ctx, key, "/api/session/tokens", body, &made)
		if !cloud.IsConflict(err) || !cloud.MayBeDone(err) {
			break
		}
		// A request of this call was carried out, and the secret in its answer was lost.
		if lost := dropNamed(ctx, session, plan.Name.ValueString()); lost != nil {
			return made, errors.Join(err, lost)
		}
	}
	return made, err
}

func dropNamed(ctx context.Context, session *cloud.Client, name string) error {
	var list struct {
		Token []tokenDocument `json:"accessToken"`
	}
	if err := session.Get(ctx, "/api/session/tokens", &list); err != nil {
		return err
	}
	for _, each := range list.Token {
		if each.Name == name {
			return session.Remove(ctx, "/api/session/tokens/"+cloud.ID(each.Href))
		}
	}
	return nil
}

// The client and address that reach a token: by itself, or as an administrator. An imported token has no secret.
func (r *tokenResource) reach(state tokenModel) (*cloud.Client, string) {
	if secret := state.Secret.ValueString(); secret != "" {
		return r.WithToken(secret), "/api/session/tokens/" + state.ID.ValueString()
	}
	return r.Client, "/api/admin/token/" + state.ID.ValueString()
}

func (r *tokenResource) Read(ctx context.Context, from resource.ReadRequest, to *resource.ReadResponse) {
	var state tokenModel
	to.Diagnostics.Append(from.State.Get(ctx, &state)...)
	if to.Diagnostics.HasError() {
		return
	}
	client, address := r.reach(state)
	var is tokenDocument
	err := client.Get(ctx, address, &is)
	if cloud.IsGone(err) || client != r.Client && cloud.IsUnauthenticated(err) {
		to.State.RemoveResource(ctx)
		return
	}
	if err != nil {
		refuse(&to.Diagnostics, "the token was not read", err)
		return
	}
	state.Name, state.Expires = types.StringValue(is.Name), textOrNull(is.Expires)
	if state.Days.IsNull() && is.Expires != "" {
		state.Days = daysOf(is)
	}
	to.Diagnostics.Append(to.State.Set(ctx, &state)...)
}

func daysOf(token tokenDocument) types.Int64 {
	created, err := time.Parse(time.RFC3339, token.DateCreated)
	expires, wrong := time.Parse(time.RFC3339, token.Expires)
	if err != nil || wrong != nil {
		return types.Int64Null()
	}
	return types.Int64Value(int64(math.Round(expires.Sub(created).Hours() / 24)))
}

// Everything but the password replaces the token, so that there is nothing to change.
func (r *tokenResource) Update(ctx context.Context, from resource.UpdateRequest, to *resource.UpdateResponse) {
	var plan tokenModel
	to.Diagnostics.Append(from.Plan.Get(ctx, &plan)...)
	to.Diagnostics.Append(to.State.Set(ctx, &plan)...)
}

func (r *tokenResource) Delete(ctx context.Context, from resource.DeleteRequest, to *resource.DeleteResponse) {
	var state tokenModel
	to.Diagnostics.Append(from.State.Get(ctx, &state)...)
	client, address := r.reach(state)
	err := client.Remove(ctx, address)
	if err != nil && !cloud.IsGone(err) && (client == r.Client || !cloud.IsUnauthenticated(err)) {
		refuse(&to.Diagnostics, "the token was not revoked", err)
	}
}

// The user as in the configuration, a comma, and the UUID of the token.
func (*tokenResource) ImportState(ctx context.Context, from resource.ImportStateRequest, to *resource.ImportStateResponse) {
	user, id, complete := strings.Cut(from.ID, ",")
	if !complete {
		to.Diagnostics.AddError("the user or the token is missing", "Import NAME@ORGANISATION,UUID: `skerry token list --json` lists the UUIDs.")
		return
	}
	to.Diagnostics.Append(to.State.SetAttribute(ctx, path.Root("user"), user)...)
	to.Diagnostics.Append(to.State.SetAttribute(ctx, path.Root("id"), id)...)
}
