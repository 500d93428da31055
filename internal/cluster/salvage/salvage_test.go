package salvage_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/salvage"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// object returns a stack as JSON.
func object(name, spec string) string {
	return fmt.Sprintf(`{"apiVersion":"llamastack.io/v1alpha2","kind":"LlamaStackDistribution",`+
		`"metadata":{"name":%q,"namespace":"a","annotations":{"kept":"1"}},"spec":{"distribution":{"name":"starter"}%s}}`, name, spec)
}

// bad contains the kinds of objects that a client cannot decode.
var bad = map[string]struct{ spec, problem string }{
	"deep": {
		`,"settings":` + strings.Repeat(`{"a":`, 9_997) + "1" + strings.Repeat("}", 9_997),
		"spec: is nested 9999 levels deep, and cannot be read: delete the stack",
	},
	"quantity": {
		`,"workload":{"replicas":2,"resources":{"limits":{"cpu":"1e-999999999","memory":"1Gi"}}}`,
		"spec.workload.resources.limits[cpu]: must be a quantity of at most 32 characters, with an exponent of at most 3 digits: " +
			"write a quantity such as 10Gi, 500m or 2",
	},
	"type": {`,"workload":{"replicas":"many"}`, `spec.workload.replicas: must be a whole number, got "many"`},
}

// serve starts a server that gives an answer to every request, and returns a client of it and the reports.
func serve(t *testing.T, answer func(http.ResponseWriter)) (*rest.Config, map[string]string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		answer(w)
	}))
	t.Cleanup(server.Close)
	reports := map[string]string{}
	config := &rest.Config{Host: server.URL}
	config.Wrap(salvage.Transport(func(object, problem string) { reports[object] = problem }))
	return config, reports
}

func newClient(t *testing.T, config *rest.Config) client.WithWatch {
	t.Helper()
	scheme := runtime.NewScheme()
	testutil.Must(t, v1alpha2.AddToScheme(scheme))
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(v1alpha2.GroupVersion.WithKind(v1alpha2.Kind), meta.RESTScopeNamespace)
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme, Mapper: mapper})
	testutil.Must(t, err)
	return c
}

// check compares what a client read of a bad object.
func check(t *testing.T, name string, got *v1alpha2.LlamaStackDistribution) {
	t.Helper()
	want := map[string]string{"kept": "1", names.UnreadableSpec: bad[name].problem}
	if diff := cmp.Diff(want, got.Annotations); diff != "" {
		t.Errorf("%s: annotations (-want +got):\n%s", name, diff)
	}
	if got.Spec.Distribution.Name != "starter" {
		t.Errorf("%s: the distribution is lost: %+v", name, got.Spec)
	}
	if name == "quantity" && (*got.Spec.Workload.Replicas != 2 || got.Spec.Workload.Resources.Limits.Memory().String() != "1Gi") {
		t.Errorf("%s: other values are lost: %+v", name, got.Spec.Workload)
	}
}

func TestList(t *testing.T) {
	items := []string{object("first", "")}
	for name, o := range bad {
		items = append(items, object(name, o.spec))
	}
	items = append(items, object("last", `,"settings":{"a":1e-999999999,"b":[{},[]]}`))
	config, reports := serve(t, func(w http.ResponseWriter) {
		fmt.Fprintf(w, `{"apiVersion":"llamastack.io/v1alpha2","items":[%s],"kind":"LlamaStackDistributionList","metadata":{"resourceVersion":"7"}}`, strings.Join(items, ","))
	})
	list := &v1alpha2.LlamaStackDistributionList{}
	testutil.Must(t, newClient(t, config).List(t.Context(), list))
	if len(list.Items) != len(items) || list.ResourceVersion != "7" || len(reports) != len(bad) {
		t.Fatalf("%d items of version %q, and reports on %v", len(list.Items), list.ResourceVersion, reports)
	}
	for i := range list.Items {
		switch name := list.Items[i].Name; name {
		case "first":
		case "last":
			if got := string(list.Items[i].Spec.Settings.Raw); got != `{"a":1e-999999999,"b":[{},[]]}` {
				t.Errorf("settings are changed: %s", got)
			}
		default:
			check(t, name, &list.Items[i])
			if reports["a/"+name] != bad[name].problem {
				t.Errorf("report on %s: %q", name, reports["a/"+name])
			}
		}
	}
}

func TestWatch(t *testing.T) {
	config, _ := serve(t, func(w http.ResponseWriter) {
		for name, o := range bad {
			fmt.Fprintf(w, `{"type":"ADDED","object":%s}`+"\n", object(name, o.spec))
			w.(http.Flusher).Flush()
		}
		fmt.Fprint(w, `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","code":410}}`+"\n")
		w.(http.Flusher).Flush()
		<-t.Context().Done() // each event must arrive while the answer goes on
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	events, err := newClient(t, config).Watch(ctx, &v1alpha2.LlamaStackDistributionList{})
	testutil.Must(t, err)
	defer events.Stop()
	for range bad {
		got, ok := (<-events.ResultChan()).Object.(*v1alpha2.LlamaStackDistribution)
		if !ok {
			t.Fatal("the watch ends early")
		}
		check(t, got.Name, got)
	}
	if status, ok := (<-events.ResultChan()).Object.(*metav1.Status); !ok || status.Code != 410 {
		t.Errorf("the last event is %v", status)
	}
}

func TestGet(t *testing.T) {
	for name, o := range bad {
		config, _ := serve(t, func(w http.ResponseWriter) { fmt.Fprint(w, object(name, o.spec)) })
		got := &v1alpha2.LlamaStackDistribution{}
		testutil.Must(t, newClient(t, config).Get(t.Context(), client.ObjectKey{Namespace: "a", Name: name}, got))
		check(t, name, got)
	}
}

func TestTruncated(t *testing.T) {
	for _, answer := range []string{`{"items":[{"a":1}`, `{"items":[{"a":`, `{`, `{"items"`, `[]`, `{"a":1`} {
		config, _ := serve(t, func(w http.ResponseWriter) { fmt.Fprint(w, answer) })
		if err := newClient(t, config).List(t.Context(), &v1alpha2.LlamaStackDistributionList{}); err == nil {
			t.Errorf("%s: no error", answer)
		}
	}
}

// FuzzObject checks that every JSON object of the kind can be decoded afterwards.
func FuzzObject(f *testing.F) {
	for name, o := range bad {
		f.Add(object(name, o.spec))
	}
	f.Fuzz(func(t *testing.T, text string) {
		readable, problem := salvage.Object([]byte(text))
		if problem == "" && string(readable) != text {
			t.Errorf("%s is changed without a problem", text)
		}
		if problem != "" && json.Unmarshal(readable, &v1alpha2.LlamaStackDistribution{}) != nil && json.Valid([]byte(text)) {
			t.Errorf("%s becomes %s, which cannot be decoded", text, readable)
		}
	})
}
