package credential_test

import (
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/credential"
)

func TestIsKey(t *testing.T) {
	for key, want := range map[string]bool{
		"password": true, "db_passwd": true, "Client-Secret": true, "api_keys": true, "API_KEY": true,
		"aws_session_token": true, "token": true,
		"": false, "max_tokens": false, "tokens": false, "key": false, "monkey": false, "passwordless": false,
		"mytoken": false, "auth": false,
	} {
		if got := credential.IsKey(key); got != want {
			t.Errorf("IsKey(%q) = %t", key, got)
		}
	}
}

func TestIsClearText(t *testing.T) {
	for value, want := range map[any]bool{
		"sk-1": true, "": false, "${env.KEY}": false, "a${env.KEY:=b}": false, 7: false,
		nil: false,
	} {
		if got := credential.IsClearText(value); got != want {
			t.Errorf("IsClearText(%v) = %t", value, got)
		}
	}
}
