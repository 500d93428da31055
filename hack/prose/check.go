package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// longest is the maximum number of words in a sentence of a comment or a page.
const longest = 40

// end matches the end of a sentence: a period, question mark or exclamation point that precedes a capital letter,
// quotation mark or parenthesis.
var end = regexp.MustCompile(`([.?!])["”)]? +([A-Z“"(])`)

// check returns the findings in a text: the rule, the words and the advice.
func check(t text) []string {
	var findings []string
	for _, each := range sentences(t.words) {
		for _, r := range rules {
			if words := r.match(t.kind, each); words != "" {
				findings = append(findings, fmt.Sprintf("%s: %q: %s", r.name, words, r.advice))
			}
		}
		if words := strings.Fields(each); t.kind != message && len(words) > longest {
			findings = append(findings, fmt.Sprintf("long sentence: %d words, but the limit is %d: %q: split it", len(words), longest,
				strings.Join(words[:6], " ")+" …"))
		}
	}
	return findings
}

// match returns the words in a sentence that break the rule, or "" if there are none.
func (r rule) match(k kind, sentence string) string {
	if r.kinds != nil && !slices.Contains(r.kinds, k) {
		return ""
	}
	for _, words := range r.pattern.FindAllString(sentence, -1) {
		if r.except == nil || !r.except.MatchString(words) {
			return strings.TrimSpace(words)
		}
	}
	return ""
}

// sentences splits a text into sentences.
func sentences(words string) []string {
	return strings.Split(end.ReplaceAllString(strings.TrimSpace(words), "$1\n$2"), "\n")
}
