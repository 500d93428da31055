package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/probe"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/redact"
)

// UnansweredError is the error for a server that does not respond, or does not complete its response.
type UnansweredError struct {
	// Path is the path of the request.
	Path string
	// Err is the cause.
	Err error
}

// Error returns a message with the cause.
func (e *UnansweredError) Error() string {
	if _, is := errors.AsType[x509.CertificateInvalidError](e.Err); is {
		return fmt.Sprintf("the server's certificate is not valid: %v; replace the certificate in the Secret in "+
			"spec.networking.tls.secretName", e.Err)
	}
	if _, is := errors.AsType[*tls.CertificateVerificationError](e.Err); is {
		return fmt.Sprintf("the server's certificate is not trusted: %v; add the certificate authority's certificate to the "+
			"key ca.crt in the Secret in spec.networking.tls.secretName, or set --ca-file", e.Err)
	}
	if errors.Is(e.Err, context.DeadlineExceeded) {
		return fmt.Sprintf("the server did not respond to a request for %s within the time limit; look at the server log, or set a longer --timeout if the command has this flag", e.Path)
	}
	return fmt.Sprintf("the server did not respond to a request for %s: %v", e.Path, e.Err)
}

// Unwrap returns the cause.
func (e *UnansweredError) Unwrap() error { return e.Err }

// RefusedError is the error for a response with a status other than 200.
type RefusedError struct {
	// Path is the path of the request.
	Path string
	// Code is the status of the response.
	Code int

	text string
}

// Error returns a message that explains the status.
func (e *RefusedError) Error() string { return e.text }

// refusal returns the error for a response with a status other than 200. `token` is the token of the request, which
// refusal removes from the message.
func refusal(path string, code int, body []byte, token string) *RefusedError {
	text := fmt.Sprintf("the server responded to a request for %s with status %d", path, code)
	switch {
	case code == http.StatusUnauthorized && token != "":
		text = "the server does not accept the token; check the token, or log in again (status 401)"
	case code == http.StatusUnauthorized:
		text = "the server requires a token; use --token-file FILE (status 401)"
	case code == http.StatusForbidden:
		text = fmt.Sprintf("the server does not allow a request for %s; ask its administrator for access (status 403)", path)
	case code == http.StatusTooManyRequests:
		text = "the server received too many requests; try again later (status 429)"
	case code < http.StatusInternalServerError:
		if detail := message(body, token); detail != "" {
			text += ": " + detail
		}
	default:
		text += "; look at the server log"
	}
	return &RefusedError{Path: path, Code: code, text: text}
}

// ModelError is the error for a model whose provider fails. Its text contains no part of the provider's message,
// because the message may contain credentials.
type ModelError struct {
	// Model is the ID of the model.
	Model string
	// Code is the status of the response, or 0 for an error in a response with status 200.
	Code int

	problem string
}

// Error returns a message that describes the problem.
func (e *ModelError) Error() string {
	status := "in the middle of an answer"
	if e.Code != 0 {
		status = fmt.Sprintf("status %d", e.Code)
	}
	return fmt.Sprintf(
		"the model server for %q failed (%s): %s; read the stack's server log for details", e.Model, status, e.problem,
	)
}

// modelError returns the error for a message about a model.
func modelError(model string, code int, message string) *ModelError {
	return &ModelError{Model: model, Code: code, problem: probe.Problem(message)}
}

// maxMessage is the maximum length, in characters, of a server's message in an error.
const maxMessage = 500

// message returns the message in a server's response, with secrets removed. It returns "" if the response contains no
// message.
func message(body []byte, token string) string {
	text := rawMessage(body)
	if token != "" {
		text = strings.ReplaceAll(text, token, redact.Mark)
	}
	shown := []rune(printable(redact.Text(text)))
	if len(shown) > maxMessage {
		shown = append(shown[:maxMessage-1], '…')
	}
	return string(shown)
}

// rawMessage returns the message in a response of one of these forms: {"error": {"message"}}, {"error": {"detail":
// {"errors": [{"msg"}]}}}, {"error": ""}, {"detail": ""} and {"message": ""}.
func rawMessage(body []byte) string {
	var answer struct {
		Error   json.RawMessage `json:"error"`
		Detail  json.RawMessage `json:"detail"`
		Message string          `json:"message"`
	}
	if json.Unmarshal(body, &answer) != nil {
		return ""
	}
	for _, part := range []json.RawMessage{answer.Error, answer.Detail} {
		if text := textOf(part); text != "" {
			return text
		}
	}
	return answer.Message
}

func textOf(part json.RawMessage) string {
	var text string
	if json.Unmarshal(part, &text) == nil {
		return text
	}
	var object struct {
		Message string `json:"message"`
		Detail  struct {
			Errors []struct {
				Message string `json:"msg"`
			} `json:"errors"`
		} `json:"detail"`
	}
	if json.Unmarshal(part, &object) == nil && object.Message != "" {
		return object.Message
	}
	var texts []string
	for _, one := range object.Detail.Errors {
		texts = append(texts, one.Message)
	}
	return strings.Join(texts, "; ")
}
