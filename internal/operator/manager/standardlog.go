package manager

import (
	"bytes"
	"strings"

	"github.com/go-logr/logr"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
)

const (
	// maxLine is the maximum length of a log line in bytes.
	maxLine = 1 << 10

	handshakeFailed = "http: TLS handshake error from "
	handlerPanicked = "http: panic serving "
)

// standardLog writes the output of Go's standard logger to the operator's log. The HTTP servers for webhooks, metrics
// and health use the standard logger for errors that they cannot report to a client.
type standardLog struct{ log, limited logr.Logger }

func newStandardLog(log logr.Logger) *standardLog {
	return &standardLog{log, limited(log)}
}

// Write logs one line, or the lines of a panic. It never fails.
func (l *standardLog) Write(line []byte) (int, error) {
	text := string(bytes.TrimSpace(line))
	if told, ok := strings.CutPrefix(text, handshakeFailed); ok {
		l.handshake(told)
	} else if strings.HasPrefix(text, handlerPanicked) {
		l.log.Error(nil, "A request ended in a panic", "panic", text) // The text includes the complete stack trace.
	} else {
		l.limited.Info("A library logged a message", "message", status.Shorten(text, maxLine))
	}
	return len(line), nil
}

// handshake logs a failed handshake at debug level. Scanners, probes and clients that do not trust the certificate
// cause such handshakes.
func (l *standardLog) handshake(told string) {
	client, cause, _ := strings.Cut(told, ": ")
	l.limited.V(1).Info("A TLS handshake failed", "client", client, "error", status.Shorten(cause, maxLine))
}
