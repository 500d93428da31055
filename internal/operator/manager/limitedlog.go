package manager

import (
	"slices"
	"sync/atomic"

	"github.com/go-logr/logr"
	"golang.org/x/time/rate"
)

const (
	// linesPerSecond is the maximum number of lines per second of a limited logger, after a burst of linesAtOnce. Any
	// client that reaches a port can cause such lines, and any author of a stack.
	linesPerSecond = 1
	linesAtOnce    = 10
)

// limitedSink drops the lines that exceed the limit. The next line contains their number.
type limitedSink struct {
	logr.LogSink

	limit   *rate.Limiter
	dropped *atomic.Int64
}

// limited returns a logger that drops lines which exceed a limit.
func limited(log logr.Logger) logr.Logger {
	return log.WithSink(&limitedSink{log.GetSink(), rate.NewLimiter(linesPerSecond, linesAtOnce), &atomic.Int64{}})
}

// Info logs a line.
func (s *limitedSink) Info(level int, message string, fields ...any) {
	if s.allows() {
		s.LogSink.Info(level, message, s.with(fields)...)
	}
}

// Error logs an error.
func (s *limitedSink) Error(err error, message string, fields ...any) {
	if s.allows() {
		s.LogSink.Error(err, message, s.with(fields)...)
	}
}

// WithName returns a sink with the same limit.
func (s *limitedSink) WithName(name string) logr.LogSink {
	return &limitedSink{s.LogSink.WithName(name), s.limit, s.dropped}
}

// WithValues returns a sink with the same limit.
func (s *limitedSink) WithValues(fields ...any) logr.LogSink {
	return &limitedSink{s.LogSink.WithValues(fields...), s.limit, s.dropped}
}

func (s *limitedSink) allows() bool {
	allowed := s.limit.Allow()
	if !allowed {
		s.dropped.Add(1)
	}
	return allowed
}

func (s *limitedSink) with(fields []any) []any {
	if dropped := s.dropped.Swap(0); dropped > 0 {
		return append(slices.Clone(fields), "notLogged", dropped)
	}
	return fields
}
