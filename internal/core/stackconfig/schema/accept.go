package schema

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// These expressions match the strings that the server's parser converts to a number or a boolean, and the numbers that
// it converts to a boolean (boolNumber). The parser never converts a number to a string.
var (
	intString   = regexp.MustCompile(`^\s*[-+]?[0-9]+(?:_[0-9]+)*(?:\.0*)?\s*$`)
	floatString = regexp.MustCompile(`^(?i)\s*[-+]?(?:(?:[0-9]+(?:_[0-9]+)*\.?[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]+)?|inf|infinity|nan)\s*$`)
	boolString  = regexp.MustCompile(`^(?i)(?:0|off|f|false|n|no|1|on|t|true|y|yes)$`)
	boolNumber  = regexp.MustCompile(`^(?:[-+]?0+|\+?0*1)(?:\.0*)?$|^0[bx]0*[01]$`)
)

// accepts reports whether a scalar expression accepts a scalar node, as the server's parser would.
func (e *Expr) accepts(kind valueKind, node *yaml.Node) bool {
	if kind == valueUnknown || kind == valueReference {
		return true
	}
	switch e.Kind {
	case KindAny:
		return true
	case KindNull:
		return kind == valueNull
	case KindBool:
		return acceptsBool(kind, node.Value)
	case KindInt:
		return acceptsInt(kind, node.Value)
	case KindFloat:
		return kind == valueBool || kind == valueInt || kind == valueFloat ||
			kind == valueString && floatString.MatchString(node.Value)
	case KindStr, KindSecret, KindPath:
		return kind == valueString
	case KindURL:
		return kind == valueString && isHTTPURL(node.Value)
	case KindLiteral:
		return kind != valueNull && slices.Contains(e.Values, node.Value)
	case KindList, KindDict, KindUnion, KindClass:
	}
	return false
}

func acceptsBool(kind valueKind, value string) bool {
	switch kind {
	case valueBool:
		return true
	case valueInt, valueFloat:
		return boolNumber.MatchString(value)
	case valueString:
		return boolString.MatchString(value)
	default:
		return false
	}
}

func acceptsInt(kind valueKind, value string) bool {
	switch kind {
	case valueBool, valueInt:
		return true
	case valueFloat:
		f, err := strconv.ParseFloat(strings.ReplaceAll(value, "_", ""), 64)
		return err == nil && f == math.Trunc(f) && !math.IsInf(f, 0)
	case valueString:
		return intString.MatchString(value)
	default:
		return false
	}
}

// isHTTPURL reports whether a string has the scheme http or https, a host, and no invalid port. The server's URL parser
// corrects many mistakes, so isHTTPURL rejects only text that the parser certainly rejects.
func isHTTPURL(value string) bool {
	scheme, rest, ok := strings.Cut(strings.TrimSpace(value), ":")
	if !ok || !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https") {
		return false
	}
	rest = strings.TrimLeft(rest, `/\`)
	host := rest[:len(rest)-len(strings.TrimLeftFunc(rest, func(r rune) bool { return !strings.ContainsRune(`/\?#`, r) }))]
	if at := strings.LastIndex(host, "@"); at >= 0 {
		host = host[at+1:]
	}
	return host != "" && host[0] != ':' && portFits(host)
}

// portFits reports whether the port of a host, if the host has one, is a number up to 65535.
func portFits(host string) bool {
	colon := strings.LastIndex(host, ":")
	if colon < strings.LastIndex(host, "]") || colon < 0 || colon == len(host)-1 {
		return true
	}
	_, err := strconv.ParseUint(host[colon+1:], 10, 16)
	return err == nil
}
