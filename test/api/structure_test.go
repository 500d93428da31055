package api

import (
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// short is how long TestStructures runs in the gate, where it measures nothing.
const short = 2 * time.Second

var (
	structures     = flag.Duration("structures", short, "how long TestStructures sends random structures")
	structuresSeed = flag.Uint64("structures-seed", 1, "the seed of the random structures")
)

// TestStructures sends objects of random structure (depth, width, length, exponents, types and metadata) to the API
// server with the policy, and without the webhook. Nothing that the API server stores may break a list. No answer may
// be an internal error, unless the object is too large for etcd. `make fuzz-structures` runs it for longer, and prints
// the slowest requests and how long a ConfigMap of the same size or metadata takes.
func TestStructures(t *testing.T) {
	s := newSender(t)
	path := fmt.Sprintf(stacks, v1alpha2.GroupVersion.Version)
	random := &structure{rand.New(rand.NewPCG(*structuresSeed, 0))}
	sent, stored := 0, 0
	var slowest []attempt
	for until := time.Now().Add(*structures); time.Now().Before(until); sent++ {
		name := fmt.Sprintf("structure-%d", sent)
		a := random.object(name)
		label, body := a.label, a.body
		start := time.Now()
		code, answer := s.send(t, http.MethodPost, path, body)
		a.code, a.took = code, time.Since(start)
		slowest = append(slowest, a)
		if code >= http.StatusInternalServerError && !tooLarge(answer) {
			t.Errorf("%s of %d bytes: %d %s", label, len(body), code, answer)
		}
		if code == http.StatusCreated {
			stored++
			if code, answer := s.send(t, http.MethodGet, path, ""); code != http.StatusOK {
				t.Errorf("%s of %d bytes: list: %d %s", label, len(body), code, answer)
			}
			if code, answer := s.send(t, http.MethodDelete, path+"/"+name, ""); code != http.StatusOK {
				t.Errorf("%s of %d bytes: delete: %d %s", label, len(body), code, answer)
			}
		}
		slices.SortFunc(slowest, func(a, b attempt) int { return int(b.took - a.took) })
		slowest = slowest[:min(len(slowest), 12)]
	}
	t.Logf("%d objects, of which %d were stored", sent, stored)
	if *structures > short {
		s.report(t, path, append(slowest, largestValues()...))
	}
	if sent == 0 {
		t.Error("no object was sent")
	}
}

// tooLarge reports whether etcd refused an object for its size. Two limits of etcd have two messages.
func tooLarge(answer string) bool {
	return strings.Contains(answer, "ResourceExhausted") || strings.Contains(answer, "etcdserver: request is too large")
}

// largestValues returns objects with about as many numbers as the API server's budget for CEL allows.
func largestValues() []attempt {
	var largest []attempt
	for _, value := range []struct{ label, value string }{
		{"432 lists of 231", many(432, many(231, "7"))},
		{"500 objects of 60", keyed(500, keyed(60, "7"))},
	} {
		spec := fmt.Sprintf(places["settings"], value.value)
		body := manifest(v1alpha2.GroupVersion.Version, "largest-values", spec)
		largest = append(largest, attempt{label: value.label, body: body})
	}
	return largest
}

// attempt is an object that is sent. metadata is its metadata if this is what it tests.
type attempt struct {
	label, body, metadata string
	code                  int
	took                  time.Duration
}

// report prints the slowest requests, how long they take without other requests, and how long a ConfigMap takes.
func (s sender) report(t *testing.T, path string, slowest []attempt) {
	t.Helper()
	for _, a := range slowest {
		alone := fastest(func() { s.send(t, http.MethodPost, path+"?dryRun=All", a.body) })
		t.Logf("%8d bytes: %d in %v, %v if sent again (a ConfigMap: %v): %s", len(a.body), a.code,
			a.took.Round(time.Millisecond), alone.Round(time.Millisecond),
			s.configMap(t, &a).Round(time.Millisecond), a.label)
	}
}

// fastest returns the shortest of three times. What else the machine does can make each of them longer.
func fastest(f func()) time.Duration {
	shortest := time.Duration(math.MaxInt64)
	for range 3 {
		start := time.Now()
		f()
		shortest = min(shortest, time.Since(start))
	}
	return shortest
}

// configMap returns how long the API server takes to create a ConfigMap with the same metadata or the same size, as a
// dry run. The size is that of short keys, of which more than 300,000 bytes take many seconds.
func (s sender) configMap(t *testing.T, a *attempt) time.Duration {
	t.Helper()
	const entry = len(`,"k12345":"0"`)
	metadata, data := a.metadata, "{}"
	if metadata == "" {
		metadata, data = `{"name":"size"}`, keyed(max(1, min(len(a.body), 300_000)/entry), `"0"`)
	}
	body := `{"apiVersion":"v1","kind":"ConfigMap","metadata":` + metadata + `,"data":` + data + `}`
	return fastest(func() {
		code, answer := s.send(t, http.MethodPost, "/api/v1/namespaces/default/configmaps?dryRun=All", body)
		if code != http.StatusCreated {
			t.Errorf("ConfigMap: %d %s", code, answer)
		}
	})
}

// structure generates objects.
type structure struct{ *rand.Rand }

// object returns a stack of random structure.
func (r *structure) object(name string) attempt {
	version := v1alpha2.GroupVersion.Version
	switch r.IntN(5) {
	case 0:
		all := quantities[version]
		place := r.key(slices.Sorted(maps.Keys(all)))
		value := `"` + r.amount() + `"`
		body := manifest(version, name, fmt.Sprintf(all[place], value))
		return attempt{label: fmt.Sprintf("%s: %.40s", place, value), body: body}
	case 1:
		label, part := r.metadata()
		metadata := fmt.Sprintf(`{"name":%q,%s}`, name, part)
		return attempt{label: label, body: withMetadata(version, metadata), metadata: metadata}
	default:
		place := r.key(slices.Sorted(maps.Keys(places)))
		shape, value := r.shape()
		return attempt{label: place + ": " + shape, body: manifest(version, name, fmt.Sprintf(places[place], value))}
	}
}

// metadata returns a part of the metadata, and a label that describes it. The API server itself, before the policy,
// takes a time that grows with the square of the numbers.
func (r *structure) metadata() (label, part string) {
	switch n := r.size(3_000); r.IntN(6) {
	case 0:
		return fmt.Sprintf("%d labels", n), `"labels":` + keyed(n, `"`+strings.Repeat("v", 63)+`"`)
	case 1:
		return fmt.Sprintf("%d annotations", n), `"annotations":` + keyed(n, `"`+strings.Repeat("v", r.size(80))+`"`)
	case 2:
		return fmt.Sprintf("%d owners", n), `"ownerReferences":` + many(n, fmt.Sprintf(
			`{"apiVersion":"v1","kind":"ConfigMap","name":"a","uid":%q}`, strings.Repeat("u", r.size(300))))
	case 3:
		return fmt.Sprintf("%d managers", n), managedFields(n, `{"f:a":{}}`)
	case 4:
		n = min(n, 1_000)
		return fmt.Sprintf("managed fields of %d levels", n),
			managedFields(1, strings.Repeat(`{"f:a":`, n)+"{}"+strings.Repeat("}", n))
	default:
		inner := r.size(max(1, 10_000/n))
		fields := strings.ReplaceAll(keyed(n, keyed(inner, "{}")), `"k`, `"f:k`)
		return fmt.Sprintf("%d managed fields of %d", n, inner), managedFields(1, fields)
	}
}

// managedFields returns the managed fields of a number of managers, each with the same fields.
func managedFields(managers int, fields string) string {
	var entries []string
	for i := range managers {
		entries = append(entries, fmt.Sprintf(`{"manager":"m%d","operation":"Apply","apiVersion":%q,`+
			`"fieldsType":"FieldsV1","fieldsV1":%s}`, i, v1alpha2.GroupVersion, fields))
	}
	return `"managedFields":[` + strings.Join(entries, ",") + "]"
}

func (r *structure) key(keys []string) string { return keys[r.IntN(len(keys))] }

// size returns a number up to a maximum. Small numbers and large numbers are equally frequent.
func (r *structure) size(most int) int {
	n := 1
	for n < most && r.IntN(6) > 0 {
		n *= 2 + r.IntN(3)
	}
	return min(n, most)
}

// shape returns a value and its description.
func (r *structure) shape() (label, value string) {
	switch r.IntN(6) {
	case 0:
		n, list := r.size(9_980), r.IntN(2) == 0
		return fmt.Sprintf("%d levels, lists: %v", n, list), nested(n, list)
	case 1:
		n, leaf := r.size(100_000), r.leaf()
		return fmt.Sprintf("list of %d times %.20s", n, leaf), many(n, leaf)
	case 2:
		n, leaf := r.size(30_000), r.leaf()
		return fmt.Sprintf("object of %d times %.20s", n, leaf), keyed(n, leaf)
	case 3:
		n, leaf := r.size(600), r.leaf()
		inner := r.size(max(1, 100_000/n))
		return fmt.Sprintf("list of %d lists of %d times %.20s", n, inner, leaf), many(n, many(inner, leaf))
	case 4:
		n, leaf := r.size(600), r.leaf()
		inner := r.size(max(1, 30_000/n))
		return fmt.Sprintf("object of %d objects of %d times %.20s", n, inner, leaf), keyed(n, keyed(inner, leaf))
	default:
		return "tree", r.tree(r.size(14))
	}
}

// tree returns a random value of at most a number of levels.
func (r *structure) tree(levels int) string {
	if levels == 0 || r.IntN(4) == 0 {
		return r.leaf()
	}
	var items []string
	for i := range 1 + r.IntN(4) {
		item := r.tree(levels - 1)
		if levels%2 == 0 {
			item = fmt.Sprintf(`"k%d":%s`, i, item)
		}
		items = append(items, item)
	}
	if levels%2 == 0 {
		return "{" + strings.Join(items, ",") + "}"
	}
	return "[" + strings.Join(items, ",") + "]"
}

// leaf returns a value without other values.
func (r *structure) leaf() string {
	leaves := []string{
		"0", "-1", "1.5", "1e300", "9223372036854775807", "true", "null", `""`, "[]", "{}",
		`"1e-999999999"`, `"::::::::"`, `"\u0000"`,
		`"` + strings.Repeat("x:", r.size(1_000)) + `"`, `{"secretKeyRef":{"name":"a","key":"b"}}`, `{"name":"a"}`,
	}
	return leaves[r.IntN(len(leaves))]
}

// amount returns a text for the place of a quantity.
func (r *structure) amount() string {
	exponents := []string{"", "Gi", "m", "e3", "e-999", "E1000", "e-99999", "e0000000", "Ki", "e", "e+-5", "n", "E"}
	digits := strings.Repeat([]string{"9", "0", "1."}[r.IntN(3)], r.size(100_000))
	return []string{"", "-", "+"}[r.IntN(3)] + digits + r.key(exponents)
}

// many returns a list with n times the same item.
func many(n int, item string) string {
	return "[" + strings.Repeat(item+",", n-1) + item + "]"
}

// keyed returns an object with n times the same value.
func keyed(n int, value string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"k%d":%s`, i, value)
	}
	return "{" + b.String()[1:] + "}"
}
