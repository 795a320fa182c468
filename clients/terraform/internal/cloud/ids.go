package cloud

import (
	"net/url"
	"strings"
)

// ID is the end of an address or of a URN, such as vapp-UUID of an address and UUID of a URN.
func ID(address string) string { return address[strings.LastIndexAny(address, "/:")+1:] }

// UUID is the end of an id without its kind.
func UUID(id string) string {
	const length = 36
	if len(id) < length {
		return id
	}
	return id[len(id)-length:]
}

// Filter is the part of a query's address that finds an attribute with this value, which may have any character.
func Filter(attribute, value string) string {
	var escaped strings.Builder
	for _, letter := range value {
		if strings.ContainsRune(`\;,()*=!<>`, letter) {
			escaped.WriteRune('\\')
		}
		escaped.WriteRune(letter)
	}
	return "filter=" + url.QueryEscape(attribute+"=="+escaped.String())
}
