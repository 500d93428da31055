package manager

import (
	"bytes"
	stdlog "log"
	"strings"
	"sync/atomic"

	"github.com/go-logr/logr"
	"golang.org/x/time/rate"

	"github.com/llamastack/llama-stack-k8s-operator/internal/status"
)

const (
	// handshakes is how many failed TLS handshakes are logged in a second: whoever reaches a port can cause them.
	handshakes = 1
	// handshakesAtOnce is how many of them are, when there were none for a while.
	handshakesAtOnce = 10
	// maxLine is the most bytes of a line that go to the log.
	maxLine = 1 << 10

	handshakeFailed = "http: TLS handshake error from "
	handlerPanicked = "http: panic serving "
)

// standardLog brings what is written by Go's standard logger into the operator's log. That is the one place where the
// library has its HTTP servers, those of webhooks, metrics and health, tell what they cannot tell a client.
type standardLog struct {
	log     logr.Logger
	limit   *rate.Limiter
	dropped atomic.Int64
}

// redirectStandardLog has the standard logger of this process write to log.
func redirectStandardLog(log logr.Logger) {
	stdlog.SetFlags(0)
	stdlog.SetOutput(newStandardLog(log))
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
		l.log.Error(nil, "A request ended in a panic", "panic", text) // with its stack, whole
	} else {
		l.log.Info("A library says", "message", status.Shorten(text, maxLine))
	}
	return len(line), nil
}

// handshake logs a failed one, at level debug: scanners, probes and clients that do not trust the certificate cause them.
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
	log.Info("A TLS handshake failed", "client", client, "error", status.Shorten(cause, maxLine), "notLogged", l.dropped.Swap(0))
}
