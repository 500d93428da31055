//go:build server

package boot

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// requestTimeout is the time limit for a request. It is long, because the first request after a boot imports packages.
const requestTimeout = time.Minute

type provider struct {
	API  string `json:"api"`
	ID   string `json:"provider_id"`
	Type string `json:"provider_type"`
}

func (s *llamaStack) providers(ctx context.Context) ([]provider, error) {
	var list struct {
		Data []provider `json:"data"`
	}
	err := s.get(ctx, "/v1/providers", &list)
	return list.Data, err
}

// idKeys lists the keys that can contain the ID of a list entry. The key depends on the release.
var idKeys = []string{"id", "identifier", "connector_id", "name"}

// list returns the IDs in the list at a path. With Redis, the first requests after a start can fail, so list repeats
// them.
func (s *llamaStack) list(ctx context.Context, path string) ([]string, error) {
	var body json.RawMessage
	err := s.again(ctx, maxFailed, func(ctx context.Context) error { return s.get(ctx, path, &body) })
	if err != nil {
		return nil, err
	}
	entries, err := entriesOf(body)
	return slices.Sorted(maps.Keys(entries)), err
}

// entriesOf returns the entries of a list as JSON, keyed by their IDs.
func entriesOf(body []byte) (map[string]string, error) {
	var list struct {
		Data []json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, fmt.Errorf("decode list: %w", err)
	}
	entries := map[string]string{}
	for _, entry := range list.Data {
		var fields map[string]any
		if err := json.Unmarshal(entry, &fields); err != nil {
			return nil, fmt.Errorf("decode entry: %w", err)
		}
		i := slices.IndexFunc(idKeys, func(key string) bool { _, ok := fields[key].(string); return ok })
		if i < 0 {
			return nil, fmt.Errorf("the entry %s has none of the keys %q", entry, idKeys)
		}
		entries[fields[idKeys[i]].(string)] = string(entry)
	}
	return entries, nil
}

// route returns the shortest of the server's paths that have the suffix in the parameter `end`, because some releases
// also have older paths. It returns an empty string if there is no such path.
func (s *llamaStack) route(ctx context.Context, method, end string) (string, error) {
	var list struct {
		Data []struct {
			Route  string `json:"route"`
			Method string `json:"method"`
		} `json:"data"`
	}
	if err := s.get(ctx, "/v1/inspect/routes", &list); err != nil {
		return "", err
	}
	found := ""
	for _, r := range list.Data {
		if r.Method == method && strings.HasSuffix(r.Route, end) && (found == "" || len(r.Route) < len(found)) {
			found = r.Route
		}
	}
	return found, nil
}

// maxFailed is the maximum number of requests that may fail after a start. With some releases and stores, the first
// requests to each server process use connections from an event loop that has ended. A single request can use several
// connections.
const maxFailed = 4

// answerTimeout is the time limit for a response. It is much longer than the usual duration on a busy machine. A
// request that waits for a connection from an ended event loop (see maxFailed) never completes, and neither does any
// request that needs the same lock.
const answerTimeout = 90 * time.Second

// again repeats a request while the server responds with an internal error and the number of failed requests since the
// start is less than the parameter `limit`.
func (s *llamaStack) again(ctx context.Context, limit int, request func(ctx context.Context) error) error {
	for {
		attempt, cancel := context.WithTimeout(ctx, answerTimeout)
		err := request(attempt)
		cancel()
		answered, ok := errors.AsType[*statusError](err)
		if !ok || answered.status != http.StatusInternalServerError || s.failed >= limit {
			return err
		}
		s.failed++
	}
}

// chat sends one user message to a model and returns the model's answer.
func (s *llamaStack) chat(ctx context.Context, model string) (string, error) {
	path, err := s.route(ctx, http.MethodPost, "/chat/completions")
	if err != nil {
		return "", err
	}
	body := map[string]any{
		"model":    model,
		"messages": []any{map[string]any{"role": "user", "content": "hello"}},
	}
	var completion struct {
		Choices []struct {
			Message struct {
				Content string `json:"content"`
			} `json:"message"`
		} `json:"choices"`
	}
	err = s.again(ctx, maxFailed, func(ctx context.Context) error {
		return s.do(ctx, http.MethodPost, path, body, &completion)
	})
	if err != nil {
		return "", err
	}
	if len(completion.Choices) != 1 {
		return "", fmt.Errorf("chat with %q: want one choice, got %d", model, len(completion.Choices))
	}
	return completion.Choices[0].Message.Content, nil
}

// kept returns the number of chat completions that the server has stored.
func (s *llamaStack) kept(ctx context.Context) (int, error) {
	path, err := s.route(ctx, http.MethodGet, "/chat/completions")
	if err != nil {
		return 0, err
	}
	ids, err := s.list(ctx, path)
	return len(ids), err
}

// statusError is the error for a response with a status other than 200.
type statusError struct {
	request string
	status  int
	body    string
}

func (e *statusError) Error() string {
	return fmt.Sprintf("%s: status %d: %s", e.request, e.status, e.body)
}

func (s *llamaStack) get(ctx context.Context, path string, into any) error {
	return s.do(ctx, http.MethodGet, path, nil, into)
}

func (s *llamaStack) do(ctx context.Context, method, path string, body, into any) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	var sent bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&sent).Encode(body); err != nil {
			return fmt.Errorf("encode request: %w", err)
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, s.url+path, &sent)
	if err != nil {
		return fmt.Errorf("create request: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	// A server closes the connection after an error, so another request on the same connection would fail too.
	request.Close = true
	response, err := s.client.Do(request)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	defer response.Body.Close()
	received, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("read answer of %s %s: %w", method, path, err)
	}
	if response.StatusCode != http.StatusOK {
		return &statusError{request: method + " " + path, status: response.StatusCode, body: string(received)}
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(received, into); err != nil {
		return fmt.Errorf("decode answer of %s %s: %w", method, path, err)
	}
	return nil
}
