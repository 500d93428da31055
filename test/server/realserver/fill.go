package realserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
)

// volumes are the paths at which the server's volume is mounted in a pod.
var volumes = []string{"/.llama", "/data"}

// homeOfPod is the server's home directory, below the directory that stands for the root of the pod's file system.
const homeOfPod = "/home"

// address matches the addresses of services in package corpus. No server answers at these addresses.
var address = regexp.MustCompile(`https?://[a-z0-9.-]+\.example(:[0-9]+)?`)

// fill returns the request that the process receives. It has a home directory, and the parts for Request.Local are
// replaced. These values differ from run to run, so the key of a verdict does not contain them.
func (c *Checker) fill(request Request) (Request, error) {
	if request.Home != "" {
		return request, nil
	}
	c.homes++
	pod := filepath.Join(c.scratch, strconv.Itoa(c.homes))
	for _, dir := range append([]string{homeOfPod}, volumes...) {
		if err := os.MkdirAll(filepath.Join(pod, dir), 0o750); err != nil {
			return Request{}, fmt.Errorf("create home directory: %w", err)
		}
	}
	request.Home = filepath.Join(pod, homeOfPod)
	if !request.Local {
		return request, nil
	}
	if c.models == nil {
		c.models = startModels()
	}
	c.models.list(request.Models)
	request.Config = c.models.answers(request.Config)
	request.Without = c.models.answers(request.Without)
	moved := make(map[string]string, len(request.Env))
	for name, value := range request.Env {
		for _, volume := range volumes {
			if value == volume || strings.HasPrefix(value, volume+"/") {
				value = pod + value
				break
			}
		}
		moved[name] = c.models.answers(value)
	}
	request.Env = moved
	return request, nil
}

// restored returns a verdict without the paths and the port of this run, so that it equals the verdict of another run.
func (c *Checker) restored(given Verdict, pod string) Verdict {
	words := []string{pod, "", c.scratch, ""}
	if c.models != nil {
		words = append(words, c.models.server.URL, "http://services.example", c.models.port, "PORT")
	}
	replace := strings.NewReplacer(words...)
	given.Phase, given.Message = replace.Replace(given.Phase), replace.Replace(given.Message)
	return given
}

// models is a model server with the models that a configuration registers.
type models struct {
	server *httptest.Server
	port   string
	listed atomic.Value // []map[string]any
}

func startModels() *models {
	m := &models{}
	m.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		// TGI responds with information about the server.
		var answer any = map[string]any{"model_id": "a", "max_total_tokens": 4096}
		if strings.HasSuffix(r.URL.Path, "/models") {
			answer = map[string]any{"object": "list", "data": m.listed.Load()}
		}
		_ = json.NewEncoder(w).Encode(answer) // a client that disconnects does not need the answer
	}))
	if at, err := url.Parse(m.server.URL); err == nil {
		m.port = at.Port()
	}
	return m
}

// list sets the listed models. If a model has a different name in the configuration, the list must not also contain
// that name, because the Llama Stack server would reject a model that is listed under both names.
func (m *models) list(names []string) {
	listed := []map[string]any{}
	for _, id := range names {
		listed = append(listed, map[string]any{"id": id, "object": "model", "owned_by": "test", "created": 0})
	}
	m.listed.Store(listed)
}

// answers replaces the addresses of services in a text with the address of the model server.
func (m *models) answers(text string) string { return address.ReplaceAllString(text, m.server.URL) }
