package registry

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// has reports whether the pool has an answer for a target.
func has(pool *Pool, target Target) bool {
	_, ok := pool.Read(target)
	return ok
}

// concludes makes the pool conclude an attempt to read a server's image. It reports whether the stack must be notified.
func concludes(pool *Pool, target Target, outcome Outcome) bool {
	task := pool.tasks[key{stack: target.Stack}]
	task.pass = map[string]Outcome{}
	return pool.conclude(task, target.Image, outcome, false)
}

// TestPoolKeepsLittle checks that the pool keeps a bounded amount of data for a namespace, regardless of the number of
// its stacks. It also checks that the pool reads dropped data again, and that no other namespace loses data.
func TestPoolKeepsLittle(t *testing.T) {
	pool := NewPool(PoolOptions{})
	add := func(namespace, name string, size int) Target {
		added := Target{Stack: types.NamespacedName{Namespace: namespace, Name: name}, Image: "a"}
		pool.Read(added)
		if !concludes(pool, added, Outcome{Image: &Image{Config: make([]byte, size)}}) {
			t.Fatal("the pool did not report the read image")
		}
		return added
	}
	other := add("other", "my", maxConfig)
	var targets []Target
	for i := range 2 * maxKept / maxConfig {
		targets = append(targets, add("ns", fmt.Sprint(i), maxConfig))
		if pool.kept["ns"].size > maxKept {
			t.Fatalf("%d bytes are kept, want at most %d", pool.kept["ns"].size, maxKept)
		}
	}
	first, last := targets[0], targets[len(targets)-1]
	if !has(pool, other) || !has(pool, last) || has(pool, first) {
		t.Errorf("kept: other %t, last %t, first %t", has(pool, other), has(pool, last), has(pool, first))
	}
	// The pool reads the first image again, and drops other data to keep it.
	size := pool.kept["ns"].size
	if _, ok := pool.begin(key{stack: first.Stack}); !ok {
		t.Error("a dropped entry is not read again")
	}
	concludes(pool, first, Outcome{Image: &Image{Config: make([]byte, maxConfig)}})
	if !has(pool, first) || pool.kept["ns"].size != size {
		t.Errorf("kept again: %t, %d bytes", has(pool, first), pool.kept["ns"].size)
	}
	// Data is counted once when it is read again or replaced, and not at all when it is no longer needed.
	concludes(pool, first, Outcome{Image: &Image{Config: make([]byte, 1)}})
	concludes(pool, first, Outcome{Err: errors.New("down")})
	if want := size - maxConfig + 1; pool.kept["ns"].size != want {
		t.Errorf("%d bytes are counted, want %d", pool.kept["ns"].size, want)
	}
	for _, target := range targets {
		pool.Forget(target.Stack)
	}
	pool.Read(Target{Stack: other.Stack, Image: "b"})
	if len(pool.kept) != 0 {
		t.Errorf("%d namespaces are counted, want none", len(pool.kept))
	}
}

// TestPoolWaitsCheaply checks that the total rate at which the waiting stacks in a namespace check for a free share
// does not depend on the number of stacks, and that the stacks in another namespace do not wait longer.
func TestPoolWaitsCheaply(t *testing.T) {
	looks := func(waiting int) float64 {
		return float64(waiting) * float64(time.Second) / float64(pauseTogether(waiting))
	}
	for n := 1; n < 100_000; n *= 2 {
		if got := looks(n); got > busyTogether*float64(time.Second)/float64(busy) {
			t.Errorf("%d waiting stacks check their share %.0f times a second", n, got)
		}
	}
	pool := NewPool(PoolOptions{})
	for i := range 100 {
		waits := Target{Stack: types.NamespacedName{Namespace: "ns", Name: fmt.Sprint(i)}, Image: "a"}
		pool.Read(waits)
		pool.begin(key{stack: waits.Stack})
		if i >= perRegistryAndNamespace {
			pool.begin(key{stack: waits.Stack}) // still waits
		}
	}
	if want := 100 - perRegistryAndNamespace; pool.busy["ns"] != want {
		t.Errorf("%d stacks wait, want %d", pool.busy["ns"], want)
	}
	if pauseTogether(pool.busy["other"]) != busy {
		t.Error("another namespace waits longer")
	}
	for i := range 100 {
		pool.Forget(types.NamespacedName{Namespace: "ns", Name: fmt.Sprint(i)})
	}
	if len(pool.busy)+len(pool.waiting) != 0 {
		t.Errorf("%v wait for %v, want none", pool.busy, pool.waiting)
	}
}

// TestPoolKeepsFewNames checks that long lists of images and pull Secrets count for the namespace of their stacks. The
// specs that contain them are not in memory.
func TestPoolKeepsFewNames(t *testing.T) {
	long := strings.Repeat("a", 200)
	images := make([]string, 1000)
	for i := range images {
		images[i] = fmt.Sprintf("registry.example.com/%s/%d", long, i)
	}
	pool := NewPool(PoolOptions{})
	for i := range 400 {
		stack := types.NamespacedName{Namespace: "ns", Name: fmt.Sprint(i)}
		credentials := strings.Repeat(fmt.Sprintf("%04d", i), 32<<10)
		pool.Read(Target{Stack: stack, Image: "a", Credentials: credentials})
		pool.Watch(Watched{Target: Target{Stack: stack, Image: "a", Credentials: credentials}})
		pool.ReadProviders(Providers{Stack: stack, Images: images, Credentials: credentials})
		other := types.NamespacedName{Namespace: "other", Name: fmt.Sprint(i)}
		pool.Watch(Watched{Target: Target{Stack: other, Image: "a", Credentials: "{}"}})
	}
	size, others := 0, 0
	for key, task := range pool.tasks {
		size += len(task.credentials)
		for _, image := range task.images {
			size += len(image)
		}
		if key.stack.Namespace == "other" {
			others++
		}
	}
	if size > maxKept || others != 400 {
		t.Errorf("%d bytes of names are kept, want at most %d; %d tasks of the other namespace are kept, want 400", size, maxKept, others)
	}
}

// TestPoolTakesTurns checks that a namespace gets a share of a registry as soon as one is free, even if two others use
// all of them and have many waiting tasks.
func TestPoolTakesTurns(t *testing.T) {
	pool := NewPool(PoolOptions{})
	task := func(namespace string, i int) key {
		waits := Target{Stack: types.NamespacedName{Namespace: namespace, Name: fmt.Sprint(i)}, Image: "a"}
		pool.Read(waits)
		return key{stack: waits.Stack}
	}
	var first *attempt
	for i := range perRegistry {
		one, ok := pool.begin(task(fmt.Sprint("loud-", i%2), i))
		if !ok {
			t.Fatal("a free share was not given")
		}
		if first == nil {
			first = one
		}
	}
	quiet := task("quiet", 0)
	if _, ok := pool.begin(quiet); ok {
		t.Fatal("more shares than exist were given")
	}
	first.release()
	for i := range 2 {
		if _, ok := pool.begin(task(fmt.Sprint("loud-", i), 10+i)); ok {
			t.Error("a namespace with a share got the free one, while another without one waits")
		}
	}
	if _, ok := pool.begin(quiet); !ok {
		t.Error("the namespace that waits did not get the free share")
	}
}

// TestPoolDoesNotWaitForStalledReads checks that a namespace does not yield to another one that cannot take a share,
// because slow reads from other registries use all of its own.
func TestPoolDoesNotWaitForStalledReads(t *testing.T) {
	pool := NewPool(PoolOptions{})
	begin := func(namespace, image string) (*attempt, bool) {
		pool.Read(Target{Stack: types.NamespacedName{Namespace: namespace, Name: image}, Image: image})
		of, _ := pool.queue.Get()
		return pool.begin(of)
	}
	var held []*attempt
	for _, image := range []string{"quay.io/a", "quay.io/b"} {
		one, _ := begin("stalled", image)
		held = append(held, one)
	}
	begin("stalled", "quay.io/waits")
	for _, one := range held {
		one.release()
		pool.queue.Done(one.key)
	}
	for i := range perNamespace - 1 { // the task that waits has a place of its own
		begin("stalled", fmt.Sprintf("stall-%d.example.com/a", i))
	}
	for _, image := range []string{"quay.io/a", "quay.io/b"} {
		if _, ok := begin("calm", image); !ok {
			t.Errorf("the read of %s waits for a namespace without a share", image)
		}
	}
}

// TestManyDeadRegistries checks that the work for a thousand images, each from another registry that does not respond,
// does not grow with the square of their number. It is done while all stacks wait for the pool.
func TestManyDeadRegistries(t *testing.T) {
	work := func(count int) float64 {
		images := make([]string, count)
		for i := range images {
			images[i] = fmt.Sprintf("registry-%d.example.com/a:1", i)
		}
		return testing.AllocsPerRun(1, func() {
			pool := NewPool(PoolOptions{})
			asked := Providers{Stack: types.NamespacedName{Namespace: "ns", Name: "a"}, Images: images}
			pool.ReadProviders(asked)
			task := pool.tasks[key{asked.Stack, readProviders}]
			task.begun = time.Now()
			for _, image := range images {
				pool.conclude(task, image, Outcome{Err: fmt.Errorf("read image %q: %w", image, errNonsense)}, false)
			}
		})
	}
	if few, many := work(100), work(1000); many > 20*few {
		t.Errorf("1000 images cause %.0f allocations, 100 images %.0f", many, few)
	}
}

// TestPoolKeepsLittleInAll checks that the pool keeps a bounded amount of data for all namespaces together, and drops
// that of the namespaces with the most.
func TestPoolKeepsLittleInAll(t *testing.T) {
	pool := NewPool(PoolOptions{})
	add := func(namespace, name string, size int) Target {
		added := Target{Stack: types.NamespacedName{Namespace: namespace, Name: name}, Image: "a"}
		pool.Read(added)
		concludes(pool, added, Outcome{Image: &Image{Config: make([]byte, size)}})
		return added
	}
	calm := add("calm", "my", maxConfig)
	for i := range 8 * maxKept / maxConfig {
		add(fmt.Sprint("loud-", i%8), fmt.Sprint(i), maxConfig)
	}
	if size := keptInAll(pool); size > maxInAll || !has(pool, calm) {
		t.Errorf("%d bytes are kept, want at most %d; the other namespace: %t", size, maxInAll, has(pool, calm))
	}
	for i := range 2 * maxInAll / maxConfig { // each has less than the one that is read last
		add(fmt.Sprint("small-", i), "my", maxConfig-1)
	}
	if last := add("last", "my", maxConfig); !has(pool, last) {
		t.Error("the content that was read last is dropped before its stack uses it")
	}
	for i := range 2 * maxInAll / maxConfig { // each has more than every other one
		add(fmt.Sprint("larger-", i), "my", maxConfig+i)
	}
	if size := keptInAll(pool); size > maxInAll {
		t.Errorf("%d bytes are kept if each namespace has more than those before, want at most %d", size, maxInAll)
	}
	pool = NewPool(PoolOptions{})
	add("full", "small", 1)
	for i := range maxKept/maxConfig + 1 { // without its last one, the second namespace has less than the first one
		if i > 0 {
			add("full", fmt.Sprint(i), maxConfig)
		}
		add("over", fmt.Sprint(i), maxConfig)
	}
	if size := pool.kept["over"].size; size > maxKept {
		t.Errorf("%d bytes are kept for a namespace, want at most %d", size, maxKept)
	}
}

// keptInAll returns the number of bytes that a pool keeps for all namespaces.
func keptInAll(pool *Pool) int {
	size := 0
	for _, one := range pool.kept {
		size += one.size
	}
	return size
}

// TestSizeOf checks that everything in an image that its author can make long counts.
func TestSizeOf(t *testing.T) {
	long := strings.Repeat("a", maxPath)
	image := &Image{
		Config: []byte(long), ConfigLabel: long, ConfigFile: long, Provider: long, Entrypoint: []string{long},
	}
	if size := sizeOf(map[string]Outcome{"a": {Image: image}}); size < 5*maxPath {
		t.Errorf("an image counts %d bytes, want at least %d", size, 5*maxPath)
	}
}
