package provider

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"skerry.example/terraform-provider-skerry/internal/cloud"
)

func metadataAttribute() schema.MapAttribute {
	return schema.MapAttribute{
		Optional:    true,
		ElementType: types.StringType,
		Description: "Its metadata: all keys that it has. Default: other clients manage them.",
	}
}

func (s *site) metadataOf(ctx context.Context, entity string) (map[string]string, error) {
	var document cloud.Metadata
	if err := s.Get(ctx, "/api/vApp/"+entity+"/metadata", &document); err != nil {
		return nil, err
	}
	found := map[string]string{}
	for _, each := range document.Entry {
		found[each.Key] = fmt.Sprint(each.TypedValue.Value)
	}
	return found, nil
}

// The metadata for the state; null if the state has none. An import takes all that there is.
func (s *site) shownMetadata(ctx context.Context, entity string, before types.Map, imported bool) (types.Map, error) {
	if before.IsNull() && !imported {
		return before, nil
	}
	found, err := s.metadataOf(ctx, entity)
	if err != nil || imported && len(found) == 0 {
		return types.MapNull(types.StringType), err
	}
	shown, problems := types.MapValueFrom(ctx, types.StringType, found)
	if problems.HasError() {
		return shown, fmt.Errorf("the metadata of %s cannot be shown", entity)
	}
	return shown, nil
}

func (s *site) writeMetadata(ctx context.Context, entity string, wanted types.Map) error {
	if wanted.IsNull() || wanted.IsUnknown() {
		return nil
	}
	has, err := s.metadataOf(ctx, entity)
	if err != nil {
		return err
	}
	values := map[string]string{}
	if problems := wanted.ElementsAs(ctx, &values, false); problems.HasError() {
		return fmt.Errorf("metadata: the values must be text")
	}
	entries := []cloud.MetadataEntry{}
	for key, value := range values {
		if before, there := has[key]; !there || before != value {
			typed := cloud.MetadataValue{Kind: "MetadataStringValue", Value: value}
			entries = append(entries, cloud.MetadataEntry{Key: key, TypedValue: typed})
		}
	}
	path := "/api/vApp/" + entity + "/metadata"
	if len(entries) > 0 {
		if err := s.Act(ctx, http.MethodPost, path, map[string]any{"metadataEntry": entries}); err != nil {
			return err
		}
	}
	for key := range has {
		if _, kept := values[key]; kept {
			continue
		}
		if err := s.Act(ctx, http.MethodDelete, path+"/"+url.PathEscape(key), nil); err != nil && !cloud.IsGone(err) {
			return err
		}
	}
	return nil
}
