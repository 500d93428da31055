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

// Problem is what cannot be trusted in a text, and where.
type Problem struct {
	// Line is the first of the block, from 1. Zero: the whole text.
	Line int
	// Detail says what is wrong, and never holds what the block does.
	Detail string
	// Foreign reports whether the block is no certificate: another kind, or cut off. The certificates beside it are good
	// without it.
	Foreign bool
}

// String is a part of a sentence: `line 4: …`.
func (p Problem) String() string {
	if p.Line == 0 {
		return p.Detail
	}
	return fmt.Sprintf("line %d: %s", p.Line, p.Detail)
}

// none is the problem of a text without any certificate.
var none = Problem{Detail: "holds no certificate in PEM form"}

// Keys reads several texts, in order. One may be empty, as platforms leave a key that nobody filled; all of them may not.
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

// LeaveOut parts the problems of several texts: left are the blocks that can be left out, because their text has a
// certificate without them; problems are all others.
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

// Read finds the certificates in a text of PEM blocks, in DER form and in order, and everything that is none. Text
// between the blocks is for people; an empty text is no problem.
func Read(text []byte) (certificates [][]byte, problems []Problem) {
	for at := 0; ; {
		next := bytes.Index(text[at:], []byte(begin))
		if next < 0 {
			break
		}
		at += next
		line := 1 + bytes.Count(text[:at], []byte("\n"))
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
		at = end
	}
	if len(certificates)+len(problems) == 0 && len(bytes.TrimSpace(text)) > 0 {
		problems = append(problems, none)
	}
	return certificates, problems
}

// readBlock reads the one block that a text begins with. Its problem has no line.
func readBlock(text []byte) ([]byte, *Problem) {
	block, _ := pem.Decode(text)
	switch {
	case block == nil:
		return nil, &Problem{Detail: "is not a complete PEM block", Foreign: true}
	case strings.HasSuffix(block.Type, "PRIVATE KEY"):
		return nil, &Problem{Detail: "is a private key, which everybody who may read the ConfigMap has now: " +
			"take it out, and issue another", Foreign: true}
	case block.Type != certificateType:
		return nil, &Problem{Detail: fmt.Sprintf("is a %q, not a certificate", block.Type), Foreign: true}
	}
	if _, err := x509.ParseCertificate(block.Bytes); err != nil {
		return nil, &Problem{Detail: "is not a certificate that can be read: " + strings.TrimPrefix(err.Error(), "x509: ")}
	}
	return block.Bytes, nil
}
