// Package provider has the resources and data sources of a Skerry cloud.
package provider

import (
	"context"
	"fmt"
	"os"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"skerry.example/terraform-provider-skerry/internal/cloud"
)

type skerry struct{ version string }

// New returns the provider of this version.
func New(version string) func() provider.Provider {
	return func() provider.Provider { return &skerry{version} }
}

func (s *skerry) Metadata(_ context.Context, _ provider.MetadataRequest, to *provider.MetadataResponse) {
	to.TypeName, to.Version = "skerry", s.version
}

func (*skerry) Schema(_ context.Context, _ provider.SchemaRequest, to *provider.SchemaResponse) {
	to.Schema = schema.Schema{
		Description: "VMs, networks and users of a Skerry cloud.",
		Attributes: map[string]schema.Attribute{
			"url": schema.StringAttribute{
				Optional:    true,
				Description: "The address of the cloud. Default: SKERRY_URL.",
			},
			"token": schema.StringAttribute{
				Optional:    true,
				Sensitive:   true,
				Description: "An API token, which the web UI creates. Default: SKERRY_TOKEN.",
			},
			"org": schema.StringAttribute{
				Optional:    true,
				Description: "The name of the organisation of new users and vdcs. Default: that of the token.",
			},
			"vdc": schema.StringAttribute{
				Optional:    true,
				Description: "The name of the vdc of new resources. Default: the only one of the organisation.",
			},
			"ca_certificate": schema.StringAttribute{
				Optional:    true,
				Description: "The file of the CA certificate in PEM. Default: SKERRY_CA, then the issuers of the system.",
			},
		},
	}
}

func (s *skerry) Configure(ctx context.Context, from provider.ConfigureRequest, to *provider.ConfigureResponse) {
	var settings struct {
		URL   types.String `tfsdk:"url"`
		Token types.String `tfsdk:"token"`
		Org   types.String `tfsdk:"org"`
		Vdc   types.String `tfsdk:"vdc"`
		CA    types.String `tfsdk:"ca_certificate"`
	}
	to.Diagnostics.Append(from.Config.Get(ctx, &settings)...)
	if to.Diagnostics.HasError() {
		return
	}
	url, token := orVariable(settings.URL, "SKERRY_URL"), orVariable(settings.Token, "SKERRY_TOKEN")
	if url == "" || token == "" {
		to.Diagnostics.AddError("the cloud or the token is missing", "Set url and token of the provider, or SKERRY_URL and SKERRY_TOKEN.")
		return
	}
	ca := ""
	if file := orVariable(settings.CA, "SKERRY_CA"); file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			to.Diagnostics.AddError("the CA certificate cannot be read", err.Error()+". Set ca_certificate, or SKERRY_CA, to the file of the certificate.")
			return
		}
		ca = string(text)
	}
	client, err := cloud.New(cloud.Settings{URL: url, Token: token, CA: ca, Agent: "terraform-provider-skerry/" + s.version})
	if err != nil {
		to.Diagnostics.AddError("the settings of the provider are wrong", err.Error())
		return
	}
	site := &site{Client: client, org: settings.Org.ValueString(), vdc: settings.Vdc.ValueString()}
	to.DataSourceData, to.ResourceData = site, site
}

func orVariable(setting types.String, variable string) string {
	if setting.ValueString() != "" {
		return setting.ValueString()
	}
	return os.Getenv(variable)
}

func (*skerry) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{
		func() resource.Resource { return &vmResource{} },
		func() resource.Resource { return &vappResource{} },
		func() resource.Resource { return &networkResource{} },
		func() resource.Resource { return &edgeGatewayResource{} },
		func() resource.Resource { return &edgeRulesResource{} },
		func() resource.Resource { return &userResource{} },
		func() resource.Resource { return &tokenResource{} },
	}
}

func (*skerry) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{
		func() datasource.DataSource { return &templateSource{} },
		func() datasource.DataSource { return &vdcSource{} },
		func() datasource.DataSource { return &orgSource{} },
		func() datasource.DataSource { return &externalNetworkSource{} },
	}
}

// Every resource and data source has the site of the provider.
type ofSite struct{ *site }

func (o *ofSite) take(data any) error {
	if data == nil {
		return nil
	}
	found, ok := data.(*site)
	if !ok {
		return fmt.Errorf("the provider was configured with %T", data)
	}
	o.site = found
	return nil
}

func (o *ofSite) Configure(_ context.Context, from resource.ConfigureRequest, to *resource.ConfigureResponse) {
	if err := o.take(from.ProviderData); err != nil {
		to.Diagnostics.AddError("the provider is not configured", err.Error())
	}
}
