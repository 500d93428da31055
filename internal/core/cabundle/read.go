package cabundle

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"strings"
)

const (
	begin           = "-----BEGIN "
	certificateType = "CERTIFICATE"
)

// Problem describes a part of a text that is not a usable certificate.
type Problem struct {
	// Line is the first line of the block, counted from 1. Zero means the whole text.
	Line int
	// Detail describes the problem. It never contains any part of the block.
	Detail string
	// Foreign reports whether the block is not a certificate at all: it has another type, or is truncated. The
	// certificates in the rest of the text can be used without it.
	Foreign bool
}

// String returns the problem as part of a sentence, after the line number, for example `line 4: …`.
func (p Problem) String() string {
	if p.Line == 0 {
		return p.Detail
	}
	return fmt.Sprintf("line %d: %s", p.Line, p.Detail)
}

// none is the Problem for a text that contains no certificate.
var none = Problem{Detail: "contains no certificate in PEM format; store a CA certificate in this key"}

// Keys reads the certificates under several keys, in order. A key may be empty, because platforms leave unused keys
// empty. If all keys are empty, Keys reports a problem with the first key.
func Keys(keys []string, content map[string][]byte) (certificates [][]byte, problems map[string][]Problem) {
	problems = map[string][]Problem{}
	for _, key := range keys {
		found, wrong := Read(content[key])
		certificates = append(certificates, found...)
		if len(wrong) > 0 {
			problems[key] = wrong
		}
	}
	if len(certificates)+len(problems) == 0 && len(keys) > 0 {
		problems[keys[0]] = []Problem{none}
	}
	return certificates, problems
}

// LeaveOut divides the problems with several texts into two groups. The result `left` holds the problems with blocks
// that can be left out, because the rest of their text contains a certificate. The result `problems` holds all other
// problems.
func LeaveOut(content map[string][]byte, all map[string][]Problem) (problems, left map[string][]Problem) {
	problems, left = map[string][]Problem{}, map[string][]Problem{}
	for key, found := range all {
		certificates, _ := Read(content[key])
		for _, problem := range found {
			if problem.Foreign && len(certificates) > 0 {
				left[key] = append(left[key], problem)
			} else {
				problems[key] = append(problems[key], problem)
			}
		}
	}
	return problems, left
}

// Read reads a text of PEM blocks. It returns the certificates in DER form and in order, and a problem for every block
// that is not a certificate. It ignores text between the blocks, and reports no problem for an empty text.
func Read(text []byte) (certificates [][]byte, problems []Problem) {
	line := 1
	for at := 0; ; {
		next := bytes.Index(text[at:], []byte(begin))
		if next < 0 {
			break
		}
		line += bytes.Count(text[at:at+next], []byte("\n"))
		at += next
		end := len(text)
		if following := bytes.Index(text[at+len(begin):], []byte(begin)); following >= 0 {
			end = at + len(begin) + following
		}
		certificate, problem := readBlock(text[at:end])
		if problem != nil {
			problem.Line = line
			problems = append(problems, *problem)
		} else {
			certificates = append(certificates, certificate)
		}
		line += bytes.Count(text[at:end], []byte("\n"))
		at = end
	}
	if len(certificates)+len(problems) == 0 && len(bytes.TrimSpace(text)) > 0 {
		problems = append(problems, none)
	}
	return certificates, problems
}

// readBlock reads the block at the start of a text. If it returns a problem, the caller must set the problem's line.
func readBlock(text []byte) ([]byte, *Problem) {
	block, _ := pem.Decode(text)
	switch {
	case block == nil:
		return nil, &Problem{Detail: "is not a complete PEM block: complete or remove this block", Foreign: true}
	case strings.HasSuffix(block.Type, "PRIVATE KEY"):
		return nil, &Problem{Detail: "is a private key, which anyone who can read the ConfigMap can use: " +
			"remove it, and issue a new key", Foreign: true}
	case block.Type != certificateType:
		return nil, &Problem{Detail: fmt.Sprintf("is a PEM block of type %q, not a certificate: remove this block", block.Type), Foreign: true}
	}
	if _, err := x509.ParseCertificate(block.Bytes); err != nil {
		return nil, &Problem{Detail: fmt.Sprintf("is not a valid certificate (%s): replace or remove this certificate",
			strings.TrimPrefix(err.Error(), "x509: "))}
	}
	return block.Bytes, nil
}
