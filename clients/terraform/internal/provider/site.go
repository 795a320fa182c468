package provider

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"skerry.example/terraform-provider-skerry/internal/cloud"
)

// The cloud with the defaults of the provider.
type site struct {
	*cloud.Client
	org, vdc string
}

type orgDocument struct {
	Name string       `json:"name"`
	Href string       `json:"href"`
	Link []cloud.Link `json:"link"`
}

// The organisation of this name. Default: that of the provider, then that of the token.
func (s *site) findOrg(ctx context.Context, name string) (orgDocument, error) {
	if name == "" {
		name = s.org
	}
	if name == "" {
		var session cloud.Session
		if err := s.Get(ctx, "/api/session", &session); err != nil {
			return orgDocument{}, err
		}
		name = session.Org
	}
	var list struct {
		Org []cloud.Reference `json:"org"`
	}
	if err := s.Get(ctx, "/api/org", &list); err != nil {
		return orgDocument{}, err
	}
	names := make([]string, 0, len(list.Org))
	for _, each := range list.Org {
		if each.Name == name {
			var found orgDocument
			err := s.Get(ctx, "/api/org/"+cloud.ID(each.Href), &found)
			return found, err
		}
		names = append(names, each.Name)
	}
	return orgDocument{}, missing("organisation", name, names)
}

// The vdcs of an organisation by name.
func vdcsOf(org orgDocument) map[string]string {
	found := map[string]string{}
	for _, link := range org.Link {
		if link.Rel == "down" && strings.Contains(link.Type, ".vdc+") {
			found[link.Name] = cloud.ID(link.Href)
		}
	}
	return found
}

// The id of the vdc that a resource names. Default: that of the provider, then the only one.
func (s *site) vdcID(ctx context.Context, wanted types.String) (string, error) {
	if wanted.ValueString() != "" {
		return wanted.ValueString(), nil
	}
	return s.findVdc(ctx, s.org, s.vdc)
}

func (s *site) findVdc(ctx context.Context, orgName, name string) (string, error) {
	org, err := s.findOrg(ctx, orgName)
	if err != nil {
		return "", err
	}
	vdcs := vdcsOf(org)
	names := make([]string, 0, len(vdcs))
	for each, id := range vdcs {
		if each == name || name == "" && len(vdcs) == 1 {
			return id, nil
		}
		names = append(names, each)
	}
	if name == "" {
		return "", fmt.Errorf("organisation %s has %d vdcs: set vdc of the resource or of the provider; it has %s", org.Name, len(vdcs), strings.Join(names, ", "))
	}
	return "", missing("vdc", name, names)
}

func missing(kind, name string, names []string) error {
	if len(names) == 0 {
		return fmt.Errorf("there is no %s %s, and no other", kind, name)
	}
	return fmt.Errorf("there is no %s %s; there is %s", kind, name, strings.Join(names, ", "))
}
