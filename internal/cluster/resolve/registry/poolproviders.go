package registry

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"k8s.io/apimachinery/pkg/types"
)

// Providers names the images of a stack's external providers. A stack can have hundreds of images. The pool reads them
// one after another, so that a stack never uses more than one share of the pool for them.
type Providers struct {
	// Stack is the stack that needs the images.
	Stack types.NamespacedName
	// Images lists the names of the images as written in the stack, each once.
	Images []string
	// Credentials has the same meaning as in Target.
	Credentials string
}

// maxProviders is the maximum total size, in bytes, of the labels of one stack's external providers.
const maxProviders = 1 << 20

// These are the errors for an image that was not read, or whose metadata is not used, because of other images.
var (
	errNoTime  = errors.New("reading the images of the other external providers took too long")
	errNoLabel = fmt.Errorf("%w; remove an external provider, or shorten spec.configSchema in the metadata of a package",
		tooLarge("total metadata of all external providers", maxProviders))
)

// providersTask reads the images of one stack's external providers.
type providersTask struct {
	part
	target Providers
	// found holds the outcomes of the last complete pass over the images. Nil means that no pass is complete yet.
	found map[string]Outcome
	// pass holds the outcomes of the current pass. begun is the start of this pass. Zero means that no pass is in
	// progress.
	pass  map[string]Outcome
	begun time.Time
	// keychain holds the credentials for all images during a pass. If they are too large to be kept, it is nil and large
	// is true.
	keychain authn.Keychain
	large    bool
	attempts int
}

// size returns the total size, in bytes, of the labels in `found`.
func (t *providersTask) size() int { return labeled(t.found) }

func (t *providersTask) drop() { t.found = nil }

func labeled(outcomes map[string]Outcome) int {
	size := 0
	for _, outcome := range outcomes {
		if outcome.Image != nil {
			size += len(outcome.Image.Provider)
		}
	}
	return size
}

// failed reports whether an image could not be read.
func (t *providersTask) failed() bool {
	for _, outcome := range t.found {
		if outcome.Err != nil {
			return true
		}
	}
	return false
}

// next returns the first image without an outcome. It returns false if every image has been tried.
func (t *providersTask) next() (string, bool) {
	for _, image := range t.target.Images {
		if _, known := t.pass[image]; !known {
			return image, true
		}
	}
	return "", false
}

// ReadProviders returns the last outcomes for the images of a stack's external providers, keyed by image. It returns
// false until every image has an outcome, or if the outcomes were dropped to make room for other stacks in the
// namespace. It does not wait: the first call starts to read the images. Callers must not change the returned map.
func (p *Pool) ReadProviders(target Providers) (map[string]Outcome, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	known, ok := p.providers[target.Stack]
	if ok && reflect.DeepEqual(known.target, target) && !known.dropped {
		return known.found, known.found != nil
	}
	p.forgetProviders(target.Stack)
	p.providers[target.Stack] = &providersTask{
		target: target, pass: map[string]Outcome{}, part: part{namespace: target.Stack.Namespace},
	}
	p.queue.Add(key{stack: target.Stack, kind: readProviders})
	return nil, false
}

// ForgetProviders drops the images of the external providers of a stack that is deleted, or whose images no longer need
// to be read.
func (p *Pool) ForgetProviders(stack types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forgetProviders(stack)
}

func (p *Pool) forgetProviders(stack types.NamespacedName) {
	task, ok := p.providers[stack]
	if !ok {
		return
	}
	p.setBusy(&task.part, false)
	p.unkeep(task)
	delete(p.providers, stack)
}

// handleProviders reads one image of a stack's external providers. It reports whether the stack must be notified. It
// returns true at most once for each pass over all images of the stack.
func (p *Pool) handleProviders(ctx context.Context, stack types.NamespacedName) (news bool) {
	task, image, reader, old, release := p.beginProvider(stack)
	if reader == nil {
		return false
	}
	var outcome Outcome
	keychain, err := p.keychain(ctx, task, image, reader)
	whole := err != nil // whether the failure applies to every image
	if whole {
		outcome.Err = err
	} else {
		read := reader.readAs(ctx, image, keychain, true, old)
		outcome = Outcome{Image: read.image, Err: read.err, asked: read.asked}
	}
	release()
	return ctx.Err() == nil && p.concludeProvider(task, image, outcome, whole)
}

// keychain returns the credentials for an image. It reads those for all images of the stack at once and keeps them for
// the pass, unless they are too large.
func (p *Pool) keychain(
	ctx context.Context, task *providersTask, image string, reader *Reader,
) (authn.Keychain, error) {
	if task.keychain != nil {
		return task.keychain, nil
	}
	images := task.target.Images
	if task.large {
		images = []string{image}
	}
	target := Target{Stack: task.target.Stack, Credentials: task.target.Credentials}
	keychain, err := p.options.Credentials(ctx, target, reader.repositories(images...))
	if err != nil {
		return nil, err
	}
	if of, ok := keychain.(*Keychain); ok && of.size() > maxCredentials {
		task.large = true
	} else if !task.large {
		task.keychain = keychain
	}
	return keychain, nil
}

// beginProvider takes a share of the pool for the next image of a stack's external providers. It returns a nil reader
// if there is nothing to read, or if no share is free. Until concludeProvider records the outcome, no other goroutine
// works on the task.
func (p *Pool) beginProvider(stack types.NamespacedName) (*providersTask, string, *Reader, ages, func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	task, ok := p.providers[stack]
	if !ok || task.dropped {
		return nil, "", nil, ages{}, nil
	}
	if task.begun.IsZero() { // a new pass keeps the outcomes of the images that could be read before
		maps.DeleteFunc(task.pass, func(_ string, outcome Outcome) bool { return outcome.Err != nil })
	}
	image, ok := task.next()
	if !ok {
		return nil, "", nil, ages{}, nil
	}
	release, ok := p.take(&task.part, key{stack: stack, kind: readProviders}, image)
	if !ok {
		return nil, "", nil, ages{}, nil
	}
	if task.begun.IsZero() {
		task.begun = time.Now()
	}
	return task, image, p.reader, p.old(task.found[image]), release
}

// concludeProvider records the outcome of one image. It reports whether every image has been tried and the stack must
// be notified. The parameter whole reports whether the outcome applies to every image.
func (p *Pool) concludeProvider(task *providersTask, image string, outcome Outcome, whole bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	stack := task.target.Stack
	if p.providers[stack] != task || task.dropped {
		return false // the task was replaced or forgotten, or its data was dropped
	}
	if outcome.Image != nil && labeled(task.pass)+len(outcome.Image.Provider) > maxProviders {
		outcome = Outcome{Err: &LabelError{Label: LabelProvider, Err: errNoLabel}}
	}
	task.pass[image] = outcome
	task.skipOthers(image, outcome, whole, time.Since(task.begun) > p.options.ProvidersTime)
	if _, more := task.next(); more {
		p.queue.Add(key{stack: stack, kind: readProviders})
		return false
	}
	return p.concludePass(task)
}

// skipOthers uses the outcome of one image to decide which other images need no attempt, and records outcomes for them.
// The parameter late reports whether the time for the pass is over.
func (t *providersTask) skipOthers(image string, outcome Outcome, whole, late bool) {
	for _, other := range t.target.Images {
		_, known := t.pass[other]
		switch {
		case known:
		case whole:
			t.pass[other] = outcome
		case unanswered(outcome.Err) && registryOf(other) == registryOf(image):
			t.pass[other] = Outcome{Err: fmt.Errorf("read image %q: %w", other, errors.Unwrap(outcome.Err))}
		case late:
			t.pass[other] = Outcome{Err: errNoTime}
		}
	}
}

// concludePass stores the outcomes of a pass, and schedules another attempt for the images that could not be read.
func (p *Pool) concludePass(task *providersTask) (news bool) {
	news = !sameOutcomes(task.found, task.pass)
	p.unkeep(task)
	task.found, task.begun = maps.Clone(task.pass), time.Time{}
	task.keychain, task.large = nil, false
	p.keep(task)
	if pause, ok := p.pauseOf(task); ok {
		p.queue.AddAfter(key{stack: task.target.Stack, kind: readProviders}, pause)
		p.options.Log.V(1).Info("The operator cannot read images of external providers", "stack", task.target.Stack.String())
	}
	task.attempts++
	return news
}

// pauseOf returns the shortest pause for the images that could not be read. It returns false if all images could be
// read.
func (p *Pool) pauseOf(task *providersTask) (time.Duration, bool) {
	var shortest time.Duration
	failed := false
	for _, outcome := range task.found {
		if outcome.Err == nil {
			continue
		}
		if pause := p.pause(outcome, task.attempts); !failed || pause < shortest {
			shortest, failed = pause, true
		}
	}
	return shortest, failed
}

// unanswered reports whether a registry did not respond, so that a request for another image would also fail.
func unanswered(err error) bool {
	_, answered := errors.AsType[*answerError](err)
	return err != nil && !answered && Transient(err)
}

func sameOutcomes(a, b map[string]Outcome) bool {
	return a != nil && maps.EqualFunc(a, b, func(x, y Outcome) bool {
		return reflect.DeepEqual(x.Image, y.Image) && message(x.Err) == message(y.Err)
	})
}
