package api

import "testing"

// Without a conversion webhook an API server that serves a second version hands out the stored form under its name.
func TestOnlyTheStoredVersionIsServed(t *testing.T) {
	definition := readDefinition(t)
	if webhook := definition.Spec.Conversion; webhook != nil {
		t.Fatalf("the definition converts by %s: this test is to go, v1alpha1 is to be served", webhook.Strategy)
	}
	versions := definition.Spec.Versions
	if len(versions) != 1 || versions[0].Name != "v1alpha2" || !versions[0].Served || !versions[0].Storage {
		t.Errorf("versions of the definition are %v, want v1alpha2 alone, served and stored", versions)
	}
}
