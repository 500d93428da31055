package manager

import (
	"bytes"
	"strings"
	"sync/atomic"

	"github.com/go-logr/logr"
	"golang.org/x/time/rate"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
)

const (
	// handshakes is the maximum number of failed TLS handshakes that are logged per second after a burst. Any client that
	// reaches a port can cause them.
	handshakes = 1
	// handshakesAtOnce is the maximum number of failed handshakes that are logged in a burst.
	handshakesAtOnce = 10
	// maxLine is the maximum length of a log line in bytes.
	maxLine = 1 << 10

	handshakeFailed = "http: TLS handshake error from "
	handlerPanicked = "http: panic serving "
)

// standardLog writes the output of Go's standard logger to the operator's log. The HTTP servers for webhooks, metrics
// and health use the standard logger for errors that they cannot report to a client.
type standardLog struct {
	log     logr.Logger
	limit   *rate.Limiter
	dropped atomic.Int64
}

func newStandardLog(log logr.Logger) *standardLog {
	return &standardLog{log: log, limit: rate.NewLimiter(handshakes, handshakesAtOnce)}
}

// Write logs one line, or the lines of a panic. It never fails.
func (l *standardLog) Write(line []byte) (int, error) {
	text := string(bytes.TrimSpace(line))
	if told, ok := strings.CutPrefix(text, handshakeFailed); ok {
		l.handshake(told)
	} else if strings.HasPrefix(text, handlerPanicked) {
		l.log.Error(nil, "A request ended in a panic", "panic", text) // The text includes the complete stack trace.
	} else {
		l.log.Info("A library logged a message", "message", status.Shorten(text, maxLine))
	}
	return len(line), nil
}

// handshake logs a failed handshake at debug level. Scanners, probes and clients that do not trust the certificate
// cause such handshakes.
func (l *standardLog) handshake(told string) {
	log := l.log.V(1)
	if !log.Enabled() {
		return
	}
	if !l.limit.Allow() {
		l.dropped.Add(1)
		return
	}
	client, cause, _ := strings.Cut(told, ": ")
	log.Info("A TLS handshake failed", "client", client, "error", status.Shorten(cause, maxLine), "notLogged",
		l.dropped.Swap(0))
}
