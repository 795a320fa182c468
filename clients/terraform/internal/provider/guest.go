package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// What cloud-init gives to a guest at its first start. The cloud does not keep it, so that the state does not either.
type guest struct {
	computerName types.String
	sshKeys      types.List
	userData     types.String
}

func guestAttributes(to map[string]schema.Attribute) map[string]schema.Attribute {
	const once = " Only a new VM takes it; it is not in the state."
	to["computer_name"] = schema.StringAttribute{Optional: true, WriteOnly: true, Description: "The host name of the guest. Default: made of its name." + once}
	to["ssh_keys"] = schema.ListAttribute{Optional: true, WriteOnly: true, ElementType: types.StringType, Description: "Lines of a .pub file." + once}
	to["user_data"] = schema.StringAttribute{Optional: true, WriteOnly: true, Sensitive: true, Description: "A document of cloud-init, of at most 16384 bytes." + once}
	return to
}

func (g guest) section(ctx context.Context, to *diag.Diagnostics) map[string]any {
	section := map[string]any{}
	if name := g.computerName.ValueString(); name != "" {
		section["computerName"] = name
	}
	if !g.sshKeys.IsNull() && !g.sshKeys.IsUnknown() {
		var keys []string
		to.Append(g.sshKeys.ElementsAs(ctx, &keys, false)...)
		section["sshKey"] = keys
	}
	if data := g.userData.ValueString(); data != "" {
		section["userData"] = data
	}
	return section
}
