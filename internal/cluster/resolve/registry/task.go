package registry

import (
	"cmp"
	"container/list"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"reflect"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/share"
)

const (
	// maxProviders is the maximum total size, in bytes, of the labels of one stack's external providers.
	maxProviders = 1 << 20
	// maxCredentials is the maximum size, in bytes, of the credentials that the pool keeps for a task. The pool reads
	// larger credentials for each image.
	maxCredentials = 16 << 10
	// toldFailures is the number of consecutive failures after which Watch reports the failure.
	toldFailures = 2
)

// errDefect is the error for an image whose read panicked.
var errDefect = errors.New("the operator has a defect; report the defect with the details in the operator's log")

// These are the errors for an image that was not read, or whose metadata is not used, because of other images.
var (
	errNoTime  = errors.New("reading the images of the other external providers took too long")
	errNoLabel = fmt.Errorf("%w; remove an external provider, or shorten spec.configSchema in the metadata of a package",
		tooLarge("total metadata of all external providers", maxProviders))
)

// task reads images for a stack, one after another. A pass tries every image once. While a worker handles the task, no
// other goroutine uses pass, keychain and large.
type task struct {
	key
	// credentials identifies the pull Secrets of the images.
	credentials string
	images      []string
	// registries holds the registry of each image, after the first registry did not respond.
	registries map[string]string
	// found holds the outcomes of the last complete pass over the images. Nil means that no pass is complete yet.
	found map[string]Outcome
	// pass holds the outcomes of the current pass. begun is the start of this pass. Zero means that no pass is in
	// progress.
	pass  map[string]Outcome
	begun time.Time
	// keychain holds the credentials for all images. It is valid only for the reader in keychainOf, because another Reader
	// can read the images from other repositories. Nil means that the pool has to read the credentials. large reports that
	// they are too large to be kept.
	keychain   authn.Keychain
	keychainOf *Reader
	large      bool
	// failures is the number of passes with a failure since the last one without. pause is the pause before this pass.
	failures int
	pause    time.Duration
	// soon is the value of Watched.Soon. If fresh is true, the next pass uses an answer for another stack only if the
	// answer is recent (PoolOptions.Fresh).
	soon, fresh bool
	// busy is the registry for whose share the task waits. Empty means that it waits for none.
	busy string
	// The field place is the task's element in the list of tasks that keep data. The field counted is the number of bytes
	// that the pool counts for the task.
	place   *list.Element
	counted int
}

// ended reports whether no further attempt is necessary after an outcome.
func (t *task) ended(after Outcome) bool {
	switch t.kind {
	case readServer: // an image without a configuration can get one
		return after.Image != nil && after.Image.Config != nil
	case readProviders:
		return after.Err == nil
	default:
		return false
	}
}

// next returns the first image without an outcome. It returns false if every image has been tried.
func (t *task) next() (string, bool) {
	for _, image := range t.images {
		if _, known := t.pass[image]; !known {
			return image, true
		}
	}
	return "", false
}

// sizeOf returns the total size, in bytes, of the data in outcomes.
func sizeOf(outcomes map[string]Outcome) int {
	size := 0
	for _, outcome := range outcomes {
		if image := outcome.Image; image != nil {
			size += len(image.Config) + len(image.Provider) + len(image.ConfigLabel) + len(image.ConfigFile)
			for _, argument := range image.Entrypoint {
				size += emptyArgument + len(argument)
			}
		}
	}
	return size
}

const (
	// bytesForImage is the number of bytes that a task needs for each image of an external provider, in addition to the
	// data and twice the name, which is also in a failure.
	bytesForImage = 512
	// usualCredentials is the length, in bytes, up to which the names of pull Secrets are not counted.
	usualCredentials = 1 << 10
)

// size returns the number of bytes that a task keeps: data from images, and what else a stack can make long.
func (t *task) size() int {
	size := sizeOf(t.found) + max(len(t.credentials)-usualCredentials, 0)
	if t.kind == readProviders {
		for _, image := range t.images {
			size += bytesForImage + 2*len(image)
		}
	}
	return size
}

// attempt is one attempt to read an image of a task, with a share of the pool.
type attempt struct {
	*task
	image   string
	by      *Reader
	old     ages
	release func()
}

// handle makes one attempt for a task. It reports whether the stack must be notified. It returns true at most once for
// each pass over the images of the task.
func (p *Pool) handle(ctx context.Context, of key) (news bool) {
	now, ok := p.begin(of)
	if !ok {
		return false
	}
	var outcome Outcome
	var whole bool
	err := share.Recovered(func() { outcome, whole = p.read(forNamespace(ctx, of.stack.Namespace), now) })
	if err != nil {
		p.options.Log.Error(err, "The read of an image panicked", "stack", of.stack.String(), "image", now.image)
		outcome = Outcome{Err: fmt.Errorf("read image %q: %w", now.image, errDefect)}
	}
	now.release()
	return ctx.Err() == nil && p.conclude(now.task, now.image, outcome, whole)
}

// begin takes a share of the pool for the next image of a task. It returns false if there is nothing to read, or if no
// share is free.
func (p *Pool) begin(of key) (*attempt, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	task, ok := p.tasks[of]
	if !ok {
		return nil, false
	}
	if task.begun.IsZero() { // a new pass keeps the outcomes that need no further attempt
		maps.DeleteFunc(task.pass, func(_ string, outcome Outcome) bool { return !task.ended(outcome) })
	}
	image, ok := task.next()
	if !ok {
		return nil, false
	}
	release, ok := p.take(task, image)
	if !ok {
		return nil, false
	}
	if task.begun.IsZero() {
		task.begun = time.Now()
	}
	if task.keychainOf != p.reader {
		task.keychain = nil
	}
	old := p.old(task, image)
	task.fresh = false
	return &attempt{task: task, image: image, by: p.reader, old: old, release: release}, true
}

// old returns the ages up to which a task can reuse the registry's shared answers. The ages depend on the outcome of
// the previous attempt. With these ages, the registry receives no more requests for an image that many stacks use than
// for an image that only one stack uses.
func (p *Pool) old(task *task, image string) ages {
	before := task.found[image]
	switch {
	case task.kind == compareTag && task.fresh:
		return ages{known: p.options.Fresh, failed: task.pause / 2, patient: true}
	case task.kind == compareTag:
		return ages{known: p.lookAgain(), failed: task.pause / 2, patient: true}
	case before.Image != nil || Lasting(before.Err):
		return ages{known: p.lookAgain(), failed: p.lookAgain(), patient: true}
	case before.Err != nil:
		return ages{known: p.options.Fresh, failed: p.options.FirstRetry / 3, patient: true}
	default: // the first attempt for a stack reuses the error of another stack only while the registry asks for a pause
		return ages{known: p.options.Fresh, patient: true}
	}
}

// read reads an image. It reports whether the outcome applies to every image of the task. If a registry refuses the
// credentials of an earlier comparison, it reads the stack's current credentials.
func (p *Pool) read(ctx context.Context, now *attempt) (outcome Outcome, whole bool) {
	earlier := now.kind == compareTag && now.keychain != nil
	keychain, err := p.keychain(ctx, now)
	if err != nil {
		return Outcome{Err: err}, true
	}
	of := question{provider: now.kind == readProviders, digest: now.kind == compareTag}
	read := now.by.ask(ctx, now.image, keychain, of, now.old)
	if code := statusOf(read.err); earlier && (code == http.StatusUnauthorized || code == http.StatusForbidden) {
		now.keychain = nil
		return p.read(ctx, now)
	}
	return Outcome{Image: read.image, Err: read.err, asked: read.asked}, false
}

// keychain returns the credentials for an image. It reads those for all images of the task at once and keeps them,
// unless they are too large.
func (p *Pool) keychain(ctx context.Context, now *attempt) (authn.Keychain, error) {
	if now.keychain != nil {
		return now.keychain, nil
	}
	images := now.images
	if now.large {
		images = []string{now.image}
	}
	target := Target{Stack: now.stack, Image: now.image, Credentials: now.credentials}
	keychain, err := p.options.Credentials(ctx, target, now.by.repositories(images...))
	if err != nil {
		return nil, err
	}
	if of, ok := keychain.(*Keychain); ok && of.finish() > maxCredentials {
		now.large = true
	} else if !now.large {
		now.keychain, now.keychainOf = keychain, now.by
	}
	return keychain, nil
}

// conclude records the outcome of an attempt. It reports whether every image has been tried and the stack must be
// notified. The parameter whole reports whether the outcome applies to every image.
func (p *Pool) conclude(task *task, image string, outcome Outcome, whole bool) (news bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tasks[task.key] != task {
		return false // the task was replaced or forgotten
	}
	if read := outcome.Image; read != nil && read.Provider != "" && sizeOf(task.pass)+len(read.Provider) > maxProviders {
		outcome = Outcome{Err: &LabelError{Label: LabelProvider, Err: errNoLabel}}
	}
	if outcome.Err != nil {
		p.options.Log.V(1).Info("The operator cannot read the image", "stack", task.stack.String(), "image", image,
			"error", outcome.Err.Error())
	}
	task.pass[image] = outcome
	task.skipOthers(image, outcome, whole, time.Since(task.begun) > p.options.ProvidersTime)
	if _, more := task.next(); more {
		p.queue.Add(task.key)
		return false
	}
	return p.concludePass(task)
}

// skipOthers uses the outcome of one image to decide which other images need no attempt, and records outcomes for them.
// The parameter late reports whether the time for the pass is over.
func (t *task) skipOthers(image string, outcome Outcome, whole, late bool) {
	for _, other := range t.images {
		_, known := t.pass[other]
		switch {
		case known:
		case whole:
			t.pass[other] = outcome
		case unanswered(outcome.Err) && t.registryOf(other) == t.registryOf(image):
			t.pass[other] = Outcome{Err: fmt.Errorf("read image %q: %w", other, errors.Unwrap(outcome.Err))}
		case late:
			t.pass[other] = Outcome{Err: errNoTime}
		}
	}
}

// registryOf returns the registry of an image of the task. Each of a thousand images can have another registry that
// does not respond, and every failure is compared with all images, so that it parses each name once.
func (t *task) registryOf(image string) string {
	if t.registries == nil {
		t.registries = make(map[string]string, len(t.images))
		for _, one := range t.images {
			t.registries[one] = registryOf(one)
		}
	}
	return t.registries[image]
}

// unanswered reports whether a registry did not respond, so that a request for another image would also fail.
func unanswered(err error) bool {
	_, answered := errors.AsType[*answerError](err)
	return err != nil && !answered && Transient(err)
}

// concludePass stores the outcomes of a pass, and schedules another pass for the images that need one. It does so even
// if a registry refused the read, because a user can fix the cause and the operator receives no notification.
func (p *Pool) concludePass(task *task) (news bool) {
	before, failed := task.found, false
	task.found, task.begun = map[string]Outcome{}, time.Time{}
	for _, outcome := range task.pass {
		failed = failed || outcome.Err != nil
	}
	task.failures++
	if !failed {
		task.failures = 0
	}
	if failed || task.kind != compareTag {
		task.keychain = nil
	}
	task.large = false
	for image, outcome := range task.pass {
		now, was := task.report(before[image], outcome), before[image]
		task.found[image] = now
		news = news || !reflect.DeepEqual(was.Image, now.Image) || message(was.Err) != message(now.Err)
	}
	p.unkeep(task)
	p.keep(task)
	if pause, ok := p.pauseOf(task); ok {
		task.pause = pause
		p.queue.AddAfter(task.key, pause)
	}
	return news
}

// report returns the outcome to report for an image. After a failure, the last content remains valid. The failure of a
// comparison is reported if it follows another failure, or if it is the first one and Watched.Soon is set.
func (t *task) report(before, now Outcome) Outcome {
	if now.Err == nil || before.Image == nil && t.kind != compareTag {
		return now
	}
	first := before.Image == nil && before.Err == nil
	if told := t.failures >= toldFailures || first && t.soon; t.kind != compareTag || !told {
		now.Err = before.Err
	}
	now.Image = before.Image
	return now
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// pauseOf returns the shortest pause before another attempt to read an image of a task. It returns false if no image
// needs one.
func (p *Pool) pauseOf(task *task) (shortest time.Duration, again bool) {
	for image, outcome := range task.pass {
		if task.ended(outcome) {
			continue
		}
		if task.kind != compareTag {
			outcome = task.found[image] // a failure does not shorten the pause of an image that was read before
		}
		pause := p.pause(outcome, task.failures)
		if task.kind == compareTag { // the pause is never longer than the interval between comparisons
			pause = min(pause, p.lookAgain())
		}
		if !again || pause < shortest {
			shortest, again = pause, true
		}
	}
	return shortest, again
}

// lookAgain returns the pause before the pool checks again which digest a tag refers to.
func (p *Pool) lookAgain() time.Duration { return cmp.Or(p.current.CheckInterval, p.options.LookAgain) }

// pause returns the pause before another attempt, after a number of failures. After a successful read or a lasting
// failure, all stacks that share the registry's answer have their next attempt at the same time.
func (p *Pool) pause(after Outcome, failures int) time.Duration {
	if after.Image != nil || Lasting(after.Err) {
		if after.asked.IsZero() {
			return p.lookAgain()
		}
		return max(p.lookAgain()-time.Since(after.asked), 0)
	}
	pause := max(min(p.options.FirstRetry<<min(max(failures-1, 0), 10), lastRetry), wantedPause(after.Err))
	return pause + rand.N(pause/4+1) //nolint:gosec // it spreads attempts, which needs no secure random numbers
}
