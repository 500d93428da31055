//go:build server

package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// requestTimeout is generous: the first request of a boot imports packages.
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

// list returns the ids of what a path lists; key is the entries' id.
func (s *llamaStack) list(ctx context.Context, path, key string) ([]string, error) {
	var list struct {
		Data []map[string]any `json:"data"`
	}
	if err := s.get(ctx, path, &list); err != nil {
		return nil, err
	}
	ids := make([]string, 0, len(list.Data))
	for _, entry := range list.Data {
		id, ok := entry[key].(string)
		if !ok {
			return nil, fmt.Errorf("list %s: an entry has no %q", path, key)
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// chat sends one user message to a model and returns what the model says.
func (s *llamaStack) chat(ctx context.Context, model string) (string, error) {
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
	if err := s.do(ctx, http.MethodPost, "/v1/chat/completions", body, &completion); err != nil {
		return "", err
	}
	if len(completion.Choices) != 1 {
		return "", fmt.Errorf("chat with %q: want one choice, got %d", model, len(completion.Choices))
	}
	return completion.Choices[0].Message.Content, nil
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
		return fmt.Errorf("make request: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
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
		return fmt.Errorf("%s %s: status %d: %s", method, path, response.StatusCode, received)
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(received, into); err != nil {
		return fmt.Errorf("decode answer of %s %s: %w", method, path, err)
	}
	return nil
}
