//go:build server

package boot

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// maxInternal is the maximum number of internal errors after a start. With Redis and PostgreSQL, the server handles
// some requests with connections from an event loop that has ended, and responds with an internal error.
const maxInternal = 12

// ask sends a request in the same way as the method `do`, and repeats the request after an internal error, because the
// server may have used a closed connection.
func (s *llamaStack) ask(ctx context.Context, method, path string, body, into any) error {
	return s.again(ctx, maxInternal, func(ctx context.Context) error { return s.do(ctx, method, path, body, into) })
}

// createVectorStore creates a vector store as a client does, and returns its ID.
func (s *llamaStack) createVectorStore(ctx context.Context, name, provider, embedding string) (string, error) {
	var made struct {
		ID string `json:"id"`
	}
	body := map[string]any{
		"name": name, "provider_id": provider, "embedding_model": embedding,
		"embedding_dimension": dimension,
	}
	err := s.ask(ctx, http.MethodPost, "/v1/vector_stores", body, &made)
	return made.ID, err
}

// vectorStoreWithFile creates a vector store that contains one file with the given text.
func (s *llamaStack) vectorStoreWithFile(ctx context.Context, name, provider, embedding, text string) (string, error) {
	id, err := s.createVectorStore(ctx, name, provider, embedding)
	if err != nil {
		return "", err
	}
	return id, s.attach(ctx, id, text)
}

// attach uploads a file and adds it to a vector store. The first attempt to add a file can fail, as can the first
// requests after a start.
func (s *llamaStack) attach(ctx context.Context, store, text string) error {
	for {
		file, err := s.tryAttach(ctx, store, text)
		switch {
		case err != nil:
			return err
		case file.Status == "completed":
			return nil
		case s.failed >= maxInternal:
			return fmt.Errorf("add a file to %q: status %q: %s", store, file.Status, file.LastError)
		}
		s.failed++
	}
}

// attachedFile is a file in a vector store.
type attachedFile struct {
	Status    string          `json:"status"`
	LastError json.RawMessage `json:"last_error"`
}

// tryAttach adds a file to a vector store, and returns the state of the file.
func (s *llamaStack) tryAttach(ctx context.Context, store, text string) (attachedFile, error) {
	var id string
	err := s.again(ctx, maxInternal, func(ctx context.Context) (err error) {
		id, err = s.upload(ctx, text)
		return err
	})
	if err != nil {
		return attachedFile{}, err
	}
	var file attachedFile
	path := "/v1/vector_stores/" + store + "/files"
	if err := s.ask(ctx, http.MethodPost, path, map[string]any{"file_id": id}, &file); err != nil {
		return file, err
	}
	return file, s.process.poll(requestTimeout, 100*time.Millisecond, func() error {
		if file.Status != "in_progress" {
			return nil
		}
		return errors.Join(errors.New("the file is in progress"), s.ask(ctx, http.MethodGet, path+"/"+id, nil, &file))
	})
}

// upload sends a text file and returns its ID.
func (s *llamaStack) upload(ctx context.Context, text string) (string, error) {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", "notes.txt")
	if err == nil {
		_, err = io.WriteString(part, text)
	}
	if err == nil {
		err = form.WriteField("purpose", "assistants")
	}
	if err == nil {
		err = form.Close()
	}
	if err != nil {
		return "", fmt.Errorf("write form: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/v1/files", &body)
	if err != nil {
		return "", fmt.Errorf("create request: %w", err)
	}
	request.Header.Set("Content-Type", form.FormDataContentType())
	request.Close = true
	response, err := s.client.Do(request)
	if err != nil {
		return "", fmt.Errorf("upload file: %w", err)
	}
	defer response.Body.Close()
	received, err := io.ReadAll(response.Body)
	if err != nil {
		return "", fmt.Errorf("upload file: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return "", &statusError{request: "POST /v1/files", status: response.StatusCode, body: string(received)}
	}
	var file struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(received, &file); err != nil {
		return "", fmt.Errorf("decode answer of POST /v1/files: %w", err)
	}
	return file.ID, nil
}

// question returns a search query for a text. The query differs from the text: equal texts have a distance of zero and
// an infinite score, and release 0.3 cannot return such a score.
func question(text string) string { return "Which text says: " + text }

// search searches a vector store, and returns an error if it does not find the text.
func (s *llamaStack) search(ctx context.Context, store, text string) error {
	var found json.RawMessage
	body := map[string]any{"query": question(text)}
	if err := s.ask(ctx, http.MethodPost, "/v1/vector_stores/"+store+"/search", body, &found); err != nil {
		return err
	}
	if !strings.Contains(string(found), text) {
		return fmt.Errorf("a search in %q does not find %q: %s", store, text, found)
	}
	return nil
}

// entries returns the entries of a list as JSON, keyed by their IDs.
func (s *llamaStack) entries(ctx context.Context, path string) (map[string]string, error) {
	var body json.RawMessage
	if err := s.ask(ctx, http.MethodGet, path, nil, &body); err != nil {
		return nil, err
	}
	return entriesOf(body)
}

// registerModel registers a model as a client does. It reports whether clients of the release can register models.
func (s *llamaStack) registerModel(ctx context.Context, rel *release.Release, name string) (bool, error) {
	path, err := s.route(ctx, http.MethodPost, "/v1/models")
	if err != nil || path == "" {
		return false, err
	}
	err = s.ask(ctx, http.MethodPost, path, map[string]any{
		"model_id": name, "provider_id": "vllm", "provider_model_id": name, "model_type": "llm",
		"metadata": map[string]any{"made": "by a client"},
	}, nil)
	if failed, ok := errors.AsType[*statusError](err); ok && failed.status == http.StatusMethodNotAllowed {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("register a model with release %s: %w", rel.Version, err)
	}
	return true, nil
}
