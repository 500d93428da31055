package registry

import (
	"math/rand/v2"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Target is an image to read for a stack.
type Target struct {
	// Stack is the stack that needs the image.
	Stack types.NamespacedName
	// Image is the name of the image as written in the stack.
	Image string
	// Credentials identifies the pull Secrets, in the form that PoolOptions.Credentials expects. A target with a different
	// value is a different target.
	Credentials string
}

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

// Watched is a tag that the pool regularly compares with the registry.
type Watched struct {
	Target
	// Soon requests the first comparison at once. Otherwise, the pool makes the first comparison at a random time within
	// the interval, so that a newly started operator does not compare the tags of all stacks at the same time.
	Soon bool
}

// Outcome is the result of reading an image.
type Outcome struct {
	// Image is the image that was read. It is nil if the image was not read. Err is then the reason.
	Image *Image
	Err   error
	// asked is the time of the registry's answer.
	asked time.Time
}

// Tag is the result of comparing a tag.
type Tag struct {
	// Digest is the digest that the tag referred to in the last answer. Empty means that there was no answer.
	Digest string
	// Err is the reason why there is no newer answer. Nil means that the last attempt succeeded, or that only the last
	// attempt failed. The pool does not report a single failure, unless the first attempt fails and Soon is set.
	Err error
}

// Read returns the last outcome for a target's image. It returns false until an attempt ends, or if the content was
// dropped to make room for other stacks in the namespace. It does not wait: the first call starts to read the image.
func (p *Pool) Read(target Target) (Outcome, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	task := p.taskFor(key{stack: target.Stack}, target.Credentials, []string{target.Image}, 0)
	return task.found[target.Image], task.found != nil
}

// ReadProviders returns the last outcomes for the images of a stack's external providers, keyed by image. It returns
// false until every image has an outcome, or if the outcomes were dropped to make room for other stacks in the
// namespace. It does not wait: the first call starts to read the images. Callers must not change the returned map.
func (p *Pool) ReadProviders(target Providers) (map[string]Outcome, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	task := p.taskFor(key{target.Stack, readProviders}, target.Credentials, target.Images, 0)
	return task.found, task.found != nil
}

// Watch returns the result of comparing a tag. It returns false until an attempt ends. It does not wait: the first call
// starts the comparisons, which continue until Unwatch. The pool calls Notify when the tag refers to another digest,
// when the pool cannot compare the tag, and when it can compare the tag again.
func (p *Pool) Watch(watched Watched) (Tag, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	pause := rand.N(p.lookAgain()) //nolint:gosec // it spreads attempts, which needs no secure random numbers
	if watched.Soon {
		pause = 0
	}
	task := p.taskFor(key{watched.Stack, compareTag}, watched.Credentials, []string{watched.Image}, pause)
	if watched.Soon && !task.soon {
		task.fresh = true
		p.queue.Add(task.key)
	}
	task.soon = watched.Soon
	tag := Tag{Err: task.found[watched.Image].Err}
	if image := task.found[watched.Image].Image; image != nil {
		tag.Digest = image.Digest
	}
	return tag, tag != Tag{}
}

// taskFor returns the task for images, with credentials. If there is no such task, for example because it was dropped
// to make room for other tasks in the namespace, taskFor makes a new task, which starts after a pause.
func (p *Pool) taskFor(of key, credentials string, images []string, pause time.Duration) *task {
	known, ok := p.tasks[of]
	if ok && known.credentials == credentials && slices.Equal(known.images, images) {
		return known
	}
	p.forget(of)
	added := &task{key: of, credentials: credentials, images: images, pass: map[string]Outcome{}, pause: pause}
	p.tasks[of] = added
	p.keep(added)
	p.queue.AddAfter(of, pause)
	return added
}

// Forget drops the server image of a stack that is deleted, or whose server image no longer needs to be read.
func (p *Pool) Forget(stack types.NamespacedName) { p.drop(key{stack: stack}) }

// ForgetProviders drops the images of the external providers of a stack that is deleted, or whose images no longer need
// to be read.
func (p *Pool) ForgetProviders(stack types.NamespacedName) { p.drop(key{stack, readProviders}) }

// Unwatch drops the tag of a stack that is deleted, or whose image is pinned by digest.
func (p *Pool) Unwatch(stack types.NamespacedName) { p.drop(key{stack, compareTag}) }

func (p *Pool) drop(of key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forget(of)
}

func (p *Pool) forget(of key) {
	if task, ok := p.tasks[of]; ok {
		p.setBusy(task, "")
		p.unkeep(task)
		delete(p.tasks, of)
	}
}
