package registry

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// refuses sends a status and a body in response to requests for a path.
func refuses(path string, status int, body string, headers ...string) func(*forged) {
	return func(f *forged) {
		f.on(path, func(w http.ResponseWriter, _ *http.Request) {
			for i := 0; i < len(headers); i += 2 {
				w.Header().Set(headers[i], headers[i+1])
			}
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		})
	}
}

// said returns the body of an error response. The body contains an error code from the registry API.
func said(code string) string {
	return fmt.Sprintf(`{"errors":[{"code":%q,"message":%q,"detail":%q}]}`, code, forbidden, forbidden)
}

// challenges responds with a challenge whose token server is at the given address.
func challenges(realm string) func(*forged) {
	return refuses(toPing, http.StatusUnauthorized, "", "WWW-Authenticate", `Bearer realm="`+realm+`",service="registry"`)
}

// tokens responds with a challenge, and serves the token in the given way.
func tokens(answer func(*forged)) func(*forged) {
	return both(challenges("https://"+hostileHost+toToken), answer)
}

func waits(name, header string, pause time.Duration) hostileAnswer {
	return hostileAnswer{
		name: "too many requests, " + name, rule: again, pause: pause,
		does: refuses(toManifest, http.StatusTooManyRequests, said("TOOMANYREQUESTS"), "Retry-After", header),
	}
}

// hostileRefusals returns responses without content: failures, and responses about credentials.
func hostileRefusals() []hostileAnswer {
	hold := inBubble.AddDate(0, 0, -1).Add(5 * time.Minute)
	return append([]hostileAnswer{
		{name: "forbidden", rule: refused, does: refuses(toManifest, http.StatusForbidden, said("DENIED"))},
		{
			name: "forbidden, with an unknown code", rule: refused,
			does: refuses(toManifest, http.StatusForbidden, said(forbidden)),
		},
		{name: "an unknown manifest", rule: refused, does: refuses(toManifest, http.StatusNotFound, said("MANIFEST_UNKNOWN"))},
		{name: "an unknown repository", rule: refused, does: refuses(toManifest, http.StatusNotFound, said("NAME_UNKNOWN"))},
		{name: "an unknown blob", rule: refused, does: refuses(toBlob, http.StatusNotFound, said("BLOB_UNKNOWN"))},
		{name: "not a registry", rule: refused, does: refuses(toPing, http.StatusNotFound, "<html>"+forbidden)},
		{name: "too many requests", rule: again, does: refuses(toManifest, http.StatusTooManyRequests, said("TOOMANYREQUESTS"))},
		waits("for seconds", "100", 100*time.Second),
		waits("until a date", hold.Format(http.TimeFormat), 5*time.Minute),
		waits("for an absurd time", "99999999999999999999999", time.Hour),
		waits("until an absurd date", "Fri, 31 Dec 9999 23:59:59 GMT", time.Hour),
		waits("until yesterday", "Fri, 31 Dec 1999 00:00:00 GMT", 0),
		waits("for less than nothing", "-5", 0),
		waits("for whatever", forbidden, 0),
		{name: "unavailable for a while, at the start", rule: again, pause: 100 * time.Second, does: refuses(toPing, http.StatusServiceUnavailable, "", "Retry-After", "100")},
		{name: "an internal error", rule: again, does: refuses(toManifest, http.StatusInternalServerError, said("UNKNOWN"))},
		{name: "an error of a gateway, in HTML", rule: again, does: refuses(toManifest, http.StatusBadGateway, "<html>"+forbidden)},
		{name: "an error with a number instead of a list of errors", rule: again, does: refuses(toBlob, http.StatusServiceUnavailable, `{"errors":5}`)},
		{name: "an unknown status", rule: again, does: refuses(toBlob, 799, forbidden)},
		{name: "no content", rule: again, does: refuses(toManifest, http.StatusNoContent, "")},
		{name: "partial content", rule: again, does: refuses(toBlob, http.StatusPartialContent, "{}")},
		{name: "a method that is not allowed", rule: again, does: refuses(toManifest, http.StatusMethodNotAllowed, said("UNSUPPORTED"))},
		{name: "an incomplete list of errors", rule: refused, does: refuses(toManifest, http.StatusForbidden, `{"errors":[`+strings.Repeat(`{"code":"DENIED"},`, 1<<16))},
	}, hostileCredentials()...)
}

func hostileCredentials() []hostileAnswer {
	unauthorized := func(headers ...string) func(*forged) {
		return both(refuses(toPing, http.StatusUnauthorized, "", headers...), refuses(toManifest, http.StatusUnauthorized, said("UNAUTHORIZED"), headers...))
	}
	return []hostileAnswer{
		{name: "unauthorized, without a challenge", rule: refused, does: unauthorized()},
		{
			name: "unauthorized, with these credentials", rule: refused,
			does: unauthorized("WWW-Authenticate", `Basic realm="`+forbidden+`"`),
		},
		{
			name: "unauthorized, with an unknown scheme", rule: refused,
			does: unauthorized("WWW-Authenticate", "Negotiate "+forbidden),
		},
		{name: "unauthorized for the manifest only", rule: refused, does: refuses(toManifest, http.StatusUnauthorized, said("UNAUTHORIZED"), "WWW-Authenticate", `Basic realm="a"`)},
		{name: "unauthorized with the token", rule: refused, does: tokens(both(
			refuses(toToken, http.StatusOK, `{"token":"`+forbidden+`"}`),
			refuses(toManifest, http.StatusUnauthorized, said("UNAUTHORIZED"), "WWW-Authenticate",
				`Bearer realm="https://`+hostileHost+toToken+`"`)))},
		{
			name: "an incomplete challenge", rule: again,
			does: unauthorized("WWW-Authenticate", `Bearer realm="`+forbidden),
		},
		{
			name: "a challenge without a realm", rule: again,
			does: unauthorized("WWW-Authenticate", `Bearer service="`+forbidden+`"`),
		},
		{name: "a realm of plain HTTP", rule: stays, does: challenges("http://elsewhere.example.com/" + forbidden)},
		{name: "a realm at this machine", rule: stays, does: challenges("https://127.0.0.1/" + forbidden)},
		{name: "a realm at this machine, by name", rule: stays, does: challenges("https://local.example.com/" + forbidden)},
		{name: "a realm at the metadata service of a cloud", rule: stays, does: challenges("https://169.254.169.254/" + forbidden)},
		{name: "a realm that is not an address", rule: again, does: challenges("https://%zz/")},
		{name: "a realm of another protocol", rule: stays, does: challenges("file:///etc/passwd")},
		{name: "a realm at an unknown host", rule: again, does: challenges("https://none.example.com/token")},
		{name: "a token that is garbage", rule: again, does: tokens(refuses(toToken, http.StatusOK, forbidden))},
		{name: "a token that is a number", rule: again, does: tokens(refuses(toToken, http.StatusOK, `{"token":5,"secret":"`+forbidden+`"}`))},
		{name: "no token", rule: again, does: tokens(refuses(toToken, http.StatusOK, `{"secret":"`+forbidden+`"}`))},
		{name: "a token with a line break", rule: again, does: tokens(refuses(toToken, http.StatusOK, `{"token":"`+forbidden+`\r\nX: y"}`))},
		{name: "an endless token", rule: again, does: tokens(endless(toToken, http.StatusOK))},
		{name: "a token at one byte per second", rule: again, does: tokens(slowly(toToken))},
		{name: "no answer to the request for a token", rule: again, does: tokens(silent(toToken))},
		{name: "a loop of redirects for a token", rule: again, does: tokens(loop(toToken))},
		{name: "a redirect for a token to this machine", rule: stays, does: tokens(redirectsTo(toToken, "https://local.example.com/"))},
		{name: "a redirect for a token to plain HTTP", rule: again, does: tokens(redirectsTo(toToken, "http://elsewhere.example.com/"))},
		{name: "a token refused", rule: refused, does: tokens(refuses(toToken, http.StatusUnauthorized, `{"details":"`+forbidden+`"}`))},
		{name: "a token forbidden", rule: refused, does: tokens(refuses(toToken, http.StatusForbidden, said("DENIED")))},
		{name: "too many requests for tokens", rule: again, pause: 100 * time.Second, does: tokens(refuses(toToken, http.StatusTooManyRequests, said("TOOMANYREQUESTS"), "Retry-After", "100"))},
		{name: "an error instead of a token", rule: again, does: tokens(refuses(toToken, http.StatusInternalServerError, "<html>"+forbidden))},
	}
}
