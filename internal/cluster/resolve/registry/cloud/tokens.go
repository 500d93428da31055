package cloud

import (
	"context"
	"sync"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"k8s.io/utils/lru"
)

const (
	// maxTokens bounds the number of tokens in memory. An administrator determines the registries for which the operator
	// gets tokens.
	maxTokens = 128
	// renewBefore is the time between the renewal of a token and its expiry. For a token with a short lifetime, this time
	// is a quarter of the lifetime.
	renewBefore = 5 * time.Minute
	// leastLife is the minimum time for which a returned token is still valid. A read takes less time.
	leastLife = 20 * time.Second
	// mostLife bounds the time for which the package keeps a token, even if the token expires later.
	mostLife = 12 * time.Hour
	// failedFor is the pause after a failed attempt, unless the cloud requests a longer pause.
	failedFor = 20 * time.Second
	// forgetAfter is the minimum age at which a token is replaced when a registry does not accept it.
	forgetAfter = 5 * time.Minute
)

// tokens keeps tokens until shortly before they expire. Concurrent callers for the same key share one attempt.
type tokens struct {
	mu   sync.Mutex
	kept *lru.Cache // key → *token
}

// token holds the last credentials and the state of the last attempt to get new credentials.
type token struct {
	credentials
	got, renew time.Time
	// flight is closed when the current attempt ends. Nil means that there is no attempt.
	flight chan struct{}
	// err is the error of the last attempt, and `again` is the earliest time of the next attempt.
	err   error
	again time.Time
}

func newTokens() *tokens { return &tokens{kept: lru.New(maxTokens)} }

// get returns the credentials for a key. If it cannot renew them, it returns the old credentials while they are valid.
func (t *tokens) get(ctx context.Context, key string, fetch func() (credentials, error)) (authn.AuthConfig, error) {
	t.mu.Lock()
	one := t.of(key)
	if config, err, done := one.known(time.Now()); done {
		t.mu.Unlock()
		return config, err
	}
	if one.flight == nil {
		one.flight = make(chan struct{})
		go t.fetch(one, fetch)
	}
	flight := one.flight
	t.mu.Unlock()
	select {
	case <-flight:
	case <-ctx.Done():
		return authn.AuthConfig{}, ctx.Err()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	config, err, _ := one.known(time.Now())
	return config, err
}

func (t *tokens) of(key string) *token {
	if one, ok := t.kept.Get(key); ok {
		return one.(*token)
	}
	one := &token{}
	t.kept.Add(key, one)
	return one
}

// known returns the current credentials, or the error of the last attempt. The result done is false if another attempt
// is due.
func (t *token) known(now time.Time) (config authn.AuthConfig, err error, done bool) { //nolint:revive // done refers to err too
	good := t.good(now)
	switch {
	case good && now.Before(t.renew), good && now.Before(t.again):
		return t.config, nil, true
	case good:
		return t.config, nil, false
	case now.Before(t.again):
		return authn.AuthConfig{}, t.err, true
	default:
		return authn.AuthConfig{}, t.err, false
	}
}

// fetch makes an attempt to get new credentials, and records its result.
func (t *tokens) fetch(one *token, fetch func() (credentials, error)) {
	found, err := fetch()
	now := time.Now()
	if limit := now.Add(mostLife); found.expires.After(limit) {
		found.expires = limit
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if one.err = err; err == nil {
		life := found.expires.Sub(now)
		one.credentials, one.got, one.renew = found, now, found.expires.Add(-min(renewBefore, life/4))
	} else {
		one.again = now.Add(max(failedFor, pauseOf(err)))
	}
	close(one.flight)
	one.flight = nil
}

// forget marks a token that is older than forgetAfter, so that the next call to `get` replaces the token. It does not
// mark a newer token.
func (t *tokens) forget(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if one, ok := t.kept.Get(key); ok && time.Since(one.(*token).got) > forgetAfter {
		one.(*token).credentials = credentials{}
	}
}
