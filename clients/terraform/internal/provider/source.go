package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
)

// Every data source has the site of the provider.
type readsSite struct{ ofSite }

func (r *readsSite) Configure(_ context.Context, from datasource.ConfigureRequest, to *datasource.ConfigureResponse) {
	if err := r.take(from.ProviderData); err != nil {
		to.Diagnostics.AddError("the provider is not configured", err.Error())
	}
}
