package chart

import (
	"testing"

	"helm.sh/helm/v4/pkg/chart/v2/loader"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
)

// The chart accepts Kubernetes versions from 1.30 on, including versions with a suffix that a vendor adds.
func TestVersionsOfKubernetes(t *testing.T) {
	chart, err := loader.Load(folder)
	if err != nil {
		t.Fatal(err)
	}
	for version, want := range map[string]bool{
		"v1.29.15":             false,
		"v1.29.15-eks-1234567": false,
		"v1.30.0":              true,
		"v1.30.4-gke.1348000":  true,
		"v1.34.4+k3s1":         true,
		"v1.37.2":              true,
	} {
		if got := chartutil.IsCompatibleRange(chart.Metadata.KubeVersion, version); got != want {
			t.Errorf("Kubernetes %s is accepted: %t, want %t", version, got, want)
		}
	}
}
