package clouds

import (
	"fmt"
	"net/http"
	"strings"
)

// These are cloud registries that accept an identity from their cloud.
const (
	ECR    = "123456789012.dkr.ecr." + Region + ".amazonaws.com"
	Google = "europe-docker.pkg.dev"
	Azure  = "team.azurecr.io"
)

// Registries makes each registry pass a request to the given handler if the request contains the operator's identity.
func (c *Clouds) Registries(content http.Handler) {
	c.On(ECR+"/v2/", func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "AWS" || password != ECRPassword {
			w.Header().Set("WWW-Authenticate", `Basic realm="https://`+ECR+`/"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		content.ServeHTTP(w, r)
	})
	c.bearer(Google, "/v2/token", func(user, password string) bool { return user == "oauth2accesstoken" && password == GoogleToken }, content)
	c.bearer(Azure, "/oauth2/token", func(_, password string) bool { return strings.HasSuffix(password, Secret) }, content)
}

// bearer makes a registry require its own token, which it issues to authorized clients.
func (c *Clouds) bearer(host, path string, letIn func(user, password string) bool, content http.Handler) {
	c.On(host+"/v2/", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer of "+host {
			w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="https://%s%s",service=%q`, host, path, host))
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		content.ServeHTTP(w, r)
	})
	c.On(host+path, func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); !letIn(user, password) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		Give(map[string]string{"token": "of " + host})(w, r)
	})
}
