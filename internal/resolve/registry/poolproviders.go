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

// Providers are the images of a stack's external providers. A stack may have hundreds: they are read one after another,
// so that it never has more than one share of the pool for them.
type Providers struct {
	// Stack needs them.
	Stack types.NamespacedName
	// Images as they are written, each once.
	Images []string
	// Credentials as in Target.
	Credentials string
}

// maxProviders bounds what the external providers of one stack say of themselves together, as their labels have it.
const maxProviders = 1 << 20

// The failures of an image that was not read because of others.
var (
	errNoTime  = errors.New("the images of the other external providers took too long to read")
	errNoLabel = tooLarge("metadata of all external providers together", maxProviders)
)

// providersTask reads the images of the external providers of one stack.
type providersTask struct {
	part
	target Providers
	// found is what is known since every image was tried; nil before that.
	found map[string]Outcome
	// pass is what is known of those that are tried now, begun when its first image was read.
	pass     map[string]Outcome
	begun    time.Time
	keychain authn.Keychain
	attempts int
}

// size is that of the labels.
func (t *providersTask) size() int { return labelled(t.found) }

func (t *providersTask) drop() { t.found = nil }

func labelled(outcomes map[string]Outcome) int {
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

// next is the first image that is not known; false: every image was tried.
func (t *providersTask) next() (string, bool) {
	for _, image := range t.target.Images {
		if _, known := t.pass[image]; !known {
			return image, true
		}
	}
	return "", false
}

// ReadProviders is what is known of the images of a stack's external providers, by image; false as long as one of them
// was not tried. It does not wait: who asks first has them read. The answer is only read.
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

// ForgetProviders drops the images of the external providers of a stack that is gone, or needs nothing read any more.
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

// handleProviders reads one image of a stack's external providers; true when there is news to tell: of all of them at once.
func (p *Pool) handleProviders(ctx context.Context, stack types.NamespacedName) (news bool) {
	task, image, reader, old, release := p.beginProvider(stack)
	if reader == nil {
		return false
	}
	var outcome Outcome
	whole := false // whether the failure is one of every image
	if task.keychain == nil {
		task.keychain, outcome.Err = p.options.Credentials(ctx, Target{Stack: stack, Credentials: task.target.Credentials})
		whole = outcome.Err != nil
	}
	if outcome.Err == nil {
		read := reader.readAs(ctx, image, task.keychain, true, old)
		outcome = Outcome{Image: read.image, Err: read.err, asked: read.asked}
	}
	release()
	return ctx.Err() == nil && p.concludeProvider(task, image, outcome, whole)
}

// beginProvider takes a share of the pool for the next image of a stack's external providers. Without a reader there is
// nothing to read, or not now. Nobody else works on the task meanwhile, and only its map of a pass is its own.
func (p *Pool) beginProvider(stack types.NamespacedName) (*providersTask, string, *Reader, ages, func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	task, ok := p.providers[stack]
	if !ok || task.dropped {
		return nil, "", nil, ages{}, nil
	}
	if task.begun.IsZero() { // a pass begins with what could be read before
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

// concludeProvider notes the outcome of one image, and of the others that it settles; true when every image was tried and
// there is news to tell.
func (p *Pool) concludeProvider(task *providersTask, image string, outcome Outcome, whole bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	stack := task.target.Stack
	if p.providers[stack] != task || task.dropped {
		return false // other images are in the queue
	}
	if outcome.Image != nil && labelled(task.pass)+len(outcome.Image.Provider) > maxProviders {
		outcome = Outcome{Err: &LabelError{Label: LabelProvider, Err: errNoLabel}}
	}
	task.pass[image] = outcome
	late := time.Since(task.begun) > p.options.ProvidersTime
	for _, other := range task.target.Images {
		_, known := task.pass[other]
		switch {
		case known:
		case whole:
			task.pass[other] = outcome
		case unanswered(outcome.Err) && registryOf(other) == registryOf(image):
			task.pass[other] = Outcome{Err: fmt.Errorf("read image %q: %w", other, errors.Unwrap(outcome.Err))}
		case late:
			task.pass[other] = Outcome{Err: errNoTime}
		}
	}
	if _, more := task.next(); more {
		p.queue.Add(key{stack: stack, kind: readProviders})
		return false
	}
	return p.concludePass(task)
}

// concludePass takes over what was found out, and has tried again what could not be read.
func (p *Pool) concludePass(task *providersTask) (news bool) {
	news = !sameOutcomes(task.found, task.pass)
	p.unkeep(task)
	task.found, task.begun, task.keychain = maps.Clone(task.pass), time.Time{}, nil
	p.keep(task)
	if pause, ok := p.pauseOf(task); ok {
		p.queue.AddAfter(key{stack: task.target.Stack, kind: readProviders}, pause)
		p.options.Log.V(1).Info("Images of external providers cannot be read", "stack", task.target.Stack.String())
	}
	task.attempts++
	return news
}

// pauseOf is the shortest pause that an image needs which could not be read; false: there is none.
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

// unanswered reports whether a registry did not answer, so that it is of no use to ask it for another image.
func unanswered(err error) bool {
	_, answered := errors.AsType[*answerError](err)
	return err != nil && !answered && Transient(err)
}

func sameOutcomes(a, b map[string]Outcome) bool {
	return a != nil && maps.EqualFunc(a, b, func(x, y Outcome) bool {
		return reflect.DeepEqual(x.Image, y.Image) && message(x.Err) == message(y.Err)
	})
}
