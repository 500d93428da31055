package plan_test

import (
	"strings"
	"testing"
)

const (
	onDatabases = "storage: {kv: {type: redis, endpoint: redis}, sql: {type: postgres, connectionString: {secretKeyRef: {name: pg, key: url}}}}\n"
	onServers   = onDatabases + "disabled: [vectorIo, files]\n"
	onPgvector  = "disabled: [files, vectorIo/faiss, vectorIo/sqlite-vec]\nworkload: {replicas: 2}\n" +
		"providers: {vectorIo: {provider: pgvector, endpoint: pg, apiKey: {secretKeyRef: {name: pg, key: password}}}}\n"
	ownLists  = "replicas do not share their lists of vector stores, so a replica does not find the vector stores that other replicas created after this replica started; "
	notShared = "replicas do not share data that is in files: "
	oneVolume = "replicas share one volume that only pods on the same node can mount"
)

// Several replicas that do not share clients' data cause a warning with an alternative.
func TestReplicasWithoutSharedData(t *testing.T) {
	for name, tc := range map[string]struct {
		spec string
		want []string
	}{
		"one replica": {"workload: {replicas: 1, storage: {}}\n", nil},
		"none":        {"workload: {replicas: 0, autoscaling: {maxReplicas: 3}}\n", nil},
		"files of each replica": {
			"workload: {replicas: 3}\n", []string{"spec.workload.replicas: 3 " + notShared},
		},
		"an autoscaler":                       {"workload: {autoscaling: {maxReplicas: 5}}\n", []string{"spec.workload.autoscaling.maxReplicas: 5 " + notShared}},
		"an autoscaler with a maximum of one": {"workload: {autoscaling: {maxReplicas: 1}}\n", nil},
		"one volume": {
			"workload: {replicas: 2, storage: {}}\n",
			[]string{"spec.workload.replicas: 2 " + notShared, "spec.workload.replicas: 2 " + oneVolume},
		},
		"one volume for all replicas": {
			"workload: {replicas: 2, storage: {accessModes: [ReadWriteMany]}}\n",
			[]string{"spec.workload.replicas: 2 replicas write the same files, which several pods cannot share: "},
		},
		"an index in memory": {
			onDatabases + "disabled: [files, vectorIo/sqlite-vec]\nworkload: {replicas: 2}\n",
			[]string{"spec.workload.replicas: 2 replicas do not share the data that each pod keeps in memory: vector_io/faiss; use a vectorIo provider"},
		},
		"a release that lists vector stores from memory": {
			onDatabases + onPgvector,
			[]string{"spec.workload.replicas: 2 " + ownLists + "use release 1.2 or later and set spec.settings.storage.stores.vector_stores, or disable vectorIo"},
		},
		"vector stores that are listed from memory": {
			"distribution: {name: starter, version: \"1.5\"}\n" + onDatabases + onPgvector,
			[]string{"spec.workload.replicas: 2 " + ownLists + "set spec.settings.storage.stores.vector_stores to {table_name: vector_stores}"},
		},
		"vector stores in a table": {
			"distribution: {name: starter, version: \"1.5\"}\n" + onDatabases + onPgvector +
				"settings: {storage: {stores: {vector_stores: {table_name: vector_stores}}}}\n",
			nil,
		},
		"on servers": {onServers + "workload: {replicas: 3}\n", nil},
		"on servers, one volume": {
			onServers + "workload: {replicas: 3, storage: {}}\n",
			[]string{"spec.workload.replicas: 3 " + oneVolume},
		},
		"on servers, any node": {onServers + "workload: {replicas: 3, storage: {accessModes: [ReadWriteMany]}}\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, warning := range build(t, input(t, tc.spec)).Warnings {
				if strings.HasPrefix(warning.Path, "spec.workload") {
					got = append(got, warning.String())
				}
			}
			if len(got) != len(tc.want) {
				t.Fatalf("warnings %q, want %q", got, tc.want)
			}
			for i := range got {
				if !strings.HasPrefix(got[i], tc.want[i]) {
					t.Errorf("warning %q, want %q", got[i], tc.want[i])
				}
			}
		})
	}
}
