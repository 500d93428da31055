package probe

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

const (
	// maxAnswer is the maximum size of a response in bytes. It is large because a list of providers contains all their
	// settings, which the package drops.
	maxAnswer = 512 << 10
	// maxProviders bounds the list, which is stored in an object's status.
	maxProviders = 200
)

// nameForm matches valid names of APIs, providers and their types. The status shows these names.
var nameForm = form{regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.:/-]*$`), 128}

// providerEntry is an entry in the list of providers.
type providerEntry struct {
	API    string `json:"api"`
	ID     string `json:"provider_id"`
	Type   string `json:"provider_type"`
	Health struct {
		Status  string `json:"status"`
		Message string `json:"message"`
	} `json:"health"`
}

// parseProviders drops the settings of the providers, because the server inserts values from its environment into them,
// and masks secrets only under a few known names (server fact 37). It sorts the list, because the servers of one stack
// can return it in different orders. It omits providers with an invalid name.
func parseProviders(body []byte) ([]v1alpha2.ProviderInfo, error) {
	data, err := dataOf[providerEntry](body, "providers")
	if err != nil {
		return nil, err
	}
	if len(data) > maxProviders {
		return nil, &finalError{fmt.Sprintf("the response has more than %d providers", maxProviders)}
	}
	list := []v1alpha2.ProviderInfo{}
	for _, p := range data {
		if !nameForm.matches(p.API) || !nameForm.matches(p.ID) || !nameForm.matches(p.Type) {
			continue
		}
		list = append(list, v1alpha2.ProviderInfo{
			API: p.API, ProviderID: p.ID, ProviderType: p.Type, Health: health(p.Health.Status, p.Health.Message),
		})
	}
	slices.SortStableFunc(list, func(a, b v1alpha2.ProviderInfo) int {
		return cmp.Or(cmp.Compare(a.API, b.API), cmp.Compare(a.ProviderID, b.ProviderID),
			cmp.Compare(a.ProviderType, b.ProviderType))
	})
	return list, nil
}
