package testutil

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// Post sends JSON to a server, and returns the status code and the body of the response.
func Post(t testing.TB, server *httptest.Server, body io.Reader) (code int, said string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, body)
	Must(t, err)
	request.Header.Set("Content-Type", "application/json")
	response, err := server.Client().Do(request)
	Must(t, err)
	defer func() { _ = response.Body.Close() }()
	data, err := io.ReadAll(response.Body)
	Must(t, err)
	return response.StatusCode, string(data)
}
