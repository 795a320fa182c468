// The provider of a Skerry cloud for OpenTofu and Terraform.
package main

import (
	"context"
	"log"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"

	"skerry.example/terraform-provider-skerry/internal/provider"
)

// Releases set it with -ldflags.
var version = "0.1.0"

func main() {
	err := providerserver.Serve(context.Background(), provider.New(version), providerserver.ServeOpts{
		Address: "skerry.example/skerry/skerry",
	})
	if err != nil {
		log.Fatal(err)
	}
}
