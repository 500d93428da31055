package secretvalue_test

import (
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/secretvalue"
)

var postgresParts = []secretvalue.Part{
	secretvalue.PartHost, secretvalue.PartPort, secretvalue.PartDB, secretvalue.PartUser, secretvalue.PartPassword,
	secretvalue.PartPasswordEncoded, secretvalue.PartSSLMode,
}

// TestDerive derives the parts of connection strings in every form. The parts are in the order of postgresParts.
func TestDerive(t *testing.T) {
	for value, want := range map[string]string{
		"postgresql://me:hidden@db.example:5433/stack":                                          "db.example 5433 stack me hidden hidden prefer",
		"postgres://me:hidden@db":                                                               "db 5432 me me hidden hidden prefer",
		"postgresql+asyncpg://me:hidden@db/stack?sslmode=verify-full":                           "db 5432 stack me hidden hidden verify-full",
		"postgresql://me:p%40ss%2Fw%3A%23d@db/stack":                                            "db 5432 stack me p@ss/w:#d p%40ss%2Fw%3A%23d prefer",
		"postgresql://me:a b%25c@db/stack?application_name=x":                                   "",
		"postgresql://me:a%20b%25c~d@db/stack?application_name=x":                               "db 5432 stack me a_b%c~d a%20b%25c~d prefer",
		"postgresql://db/stack?user=me&password=hidden&port=5433":                               "db 5433 stack me hidden hidden prefer",
		"postgresql://me:a:b@db:5433/stack":                                                     "db 5433 stack me a:b a%3Ab prefer",
		"postgresql://db/stack?user=me%40x&password=a@b":                                        "db 5432 stack me@x a@b a%40b prefer",
		"postgresql://me:hidden@[::1]:5433/stack":                                               "::1 5433 stack me hidden hidden prefer",
		"host=db user=me password=hidden":                                                       "db 5432 me me hidden hidden prefer",
		`host = db  port=5433 dbname='my db' user=me password='it\'s h\\idden' sslmode=require`: `db 5433 my_db me it's_h\idden it%27s%20h%5Cidden require`,
	} {
		var got []string
		for _, part := range postgresParts {
			text, err := secretvalue.Derive(part, value)
			if err != nil {
				got = []string{""}
				break
			}
			got = append(got, strings.ReplaceAll(text, " ", "_"))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s\ngot  %s\nwant %s", value, strings.Join(got, " "), want)
		}
	}
}

func TestDeriveErrors(t *testing.T) {
	const host, password = secretvalue.PartHost, secretvalue.PartPassword
	const escape = "the connection string is invalid; percent-encode the characters @ / : # ? % [ ] in its user and password, for example @ as %40"
	for _, tc := range []struct {
		part        secretvalue.Part
		value, want string
	}{
		{host, "", "is empty; set a value"},
		{host, "postgresql://me:hidden@db/stack\n", "ends with a line break; create the Secret from a file without a line break at the end, or with --from-literal"},
		{host, "hidden", "the value is not a PostgreSQL connection string; write postgresql://user:password@host:port/database"},
		{host, "mysql://me:hidden@db/stack", "the value is not a PostgreSQL connection string; write postgresql://user:password@host:port/database"},
		{host, "postgresql://me:hid%zzden@db/stack", "the connection string is invalid; percent-encode the characters @ / : # ? % [ ] in its user and password, for example @ as %40"},
		{host, "postgresql://me:hid#den@db/stack", "the connection string is invalid; percent-encode the characters @ / : # ? % [ ] in its user and password, for example @ as %40"},
		{host, "postgresql://me:hidden@db/stack?a=%zz", "the connection string is invalid; percent-encode the characters @ / : # ? % [ ] in its user and password, for example @ as %40"},
		{host, "postgresql://me:hid/den@db/stack", escape},
		{host, "postgresql://me:12/den@db/stack", escape},
		{host, "postgresql://me:12@den/x@db/stack", escape},
		{host, "postgresql://me:hid@den@db/stack", escape},
		{host, "postgresql://me:12?den@db/stack", escape},
		{host, "postgresql://me:hid?den@db/stack", escape},
		{host, "postgresql://me:hidden@one:5432,two:5432/stack", "the connection string has several hosts, but the server supports only one; keep one host"},
		{host, "host=one,two user=hidden", "the connection string has several hosts, but the server supports only one; keep one host"},
		{host, "postgresql://me:hidden@/stack", "the connection string has no host; add the host"},
		{host, "postgresql://db/stack", "the connection string has no user; add the user"},
		{host, "postgresql://me:hidden@db:99999/stack", "the connection string has a port that is not between 1 and " +
			"65535; correct the port"},
		{host, "postgresql://me:hidden@db/stack?sslmode=hidden", "the connection string has an sslmode that PostgreSQL " +
			"does not support; use disable, allow, prefer, require, verify-ca or verify-full"},
		{host, "postgresql://me:hidden@db/stack?sslrootcert=/hidden", `the connection string has a parameter "sslrootcert" that the operator cannot pass to the server; remove the parameter`},
		{host, "host=db user=me hidden hidden=1", "the value is not a PostgreSQL connection string; write postgresql://user:password@host:port/database"},
		{host, "host=db user='hidden", "the connection string has a quote that is not closed; close the quote"},
		{host, "host=db user=me password=pass hidden=word", "the connection string has a parameter that the operator cannot pass to the server; remove the parameter"},
		{host, "postgresql://me:pw@db/stack?hidden=1", "the connection string has a parameter that the operator cannot pass to the server; remove the parameter"},
		{host, "host=db user=me hid/den=1", "the connection string has a parameter that the operator cannot pass to the server; remove the parameter"},
		{secretvalue.PartHostPlain, "postgresql://me:hidden@db/stack?sslmode=verify-full", "the connection string sets sslmode=verify-full, which this server release does not support for this store"},
		{password, "postgresql://me@db/stack", "the password is empty; set a value"},
		{password, "postgresql://me:12345@db/stack", "the password looks like a number, so the server converts and then rejects the value; use another value"},
		{secretvalue.PartPasswordEncoded, "postgresql://me:true@db/stack", "the password looks like a boolean, so the server converts and then rejects the value; use another value"},
		{secretvalue.PartUser, "postgresql://1e5:hidden@db/stack", "the user looks like a number, so the server converts and then rejects the value; use another value"},
		{secretvalue.PartDB, "postgresql://me:hidden@db/17", "the name of the database looks like a number, so the server converts and then rejects the value; use another value"},
		{secretvalue.PartEncoded, "17", "the value looks like a number, so the server converts and then rejects the value; use another value"},
		{"nonsense", "postgresql://me:hidden@db/stack", `"nonsense" is not a part of a connection string`},
	} {
		got, err := secretvalue.Derive(tc.part, tc.value)
		if err == nil || got != "" {
			t.Errorf("%s of %q: accepted as %q, want: %s", tc.part, tc.value, got, tc.want)
			continue
		}
		if err.Error() != tc.want {
			t.Errorf("%s of %q:\ngot  %s\nwant %s", tc.part, tc.value, err, tc.want)
		}
		if strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s of %q: the error contains the value", tc.part, tc.value)
		}
	}
	for part, want := range map[secretvalue.Part]string{
		secretvalue.PartEncoded:   "p%40s%20s",
		secretvalue.PartHostPlain: "",
	} {
		if got, _ := secretvalue.Derive(part, "p@s s"); got != want {
			t.Errorf("%s: %q", part, got)
		}
	}
	if got, err := secretvalue.Derive(secretvalue.PartHostPlain, "postgresql://me:x@db/s?sslmode=prefer"); got != "db" ||
		err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

// Each case contains the value of a variable and the expected error.
func TestUsable(t *testing.T) {
	const (
		number  = "looks like a number, so the server converts and then rejects the value; use another value"
		boolean = "looks like a boolean, so the server converts and then rejects the value; use another value"
		control = "contains a control character; use another value"
	)
	for value, want := range map[string]string{
		"": "is empty; set a value", "  \t": "is empty; set a value", "\n": "is empty; set a value",
		"12345": number, "0123": number, "1_000": number, " 12 ": number, "-5": number, "+5": number, "1e5": number,
		"1.5": number,
		".5":  number, "5.": number, "nan": number, "NaN": number, "inf": number, "-Infinity": number, "1_0.0_1e-1_0": number,
		"٣":    number,
		"true": boolean, "False": boolean, "TRUE": boolean,
		"token\n":   "ends with a line break; create the Secret from a file without a line break at the end, or with --from-literal",
		"tok\x00en": control, "tok\x1ben": control,
		"\xff\xfe":  "is not valid UTF-8 text; use another value",
		"~":         "begins with ~, which the server replaces with its home directory; use another value",
		"~/token":   "begins with ~, which the server replaces with its home directory; use another value",
		"a${env.B}": "contains a reference such as ${env.NAME}, which server releases from 1.2 on replace; use another value",
		"sk-12345":  "", "1_": "", "_1": "", "1__0": "", "0x1F": "", "1e": "", "yes": "", "null": "", "two\nlines": "",
		"10.0.0.1": "", "~token": "", "1e5x": "",
		"${env.lower}": "", "${OTHER}": "", "$HOME": "",
	} {
		err := secretvalue.Usable(value)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", value, got, want)
		}
	}
}

// FuzzDerive checks that Derive does not panic, that it returns an error or a value that the server reads unchanged,
// and that no error contains the connection string.
func FuzzDerive(f *testing.F) {
	for _, seed := range []string{
		"postgresql://me:hidden@db:5432/stack?sslmode=require", "host=db user='a b' password=c", "postgres://:@/", "x=\\", "a://b,c",
		"postgresql://%zz", "postgresql+x://a:b@[::1]/", "= =", "host=db user=me sslmode=x",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		for _, part := range append(postgresParts, secretvalue.PartHostPlain, secretvalue.PartEncoded) {
			got, err := secretvalue.Derive(part, value)
			if err != nil {
				// A message may have a few characters in common with the value, so only a long match shows that the message
				// contains the value.
				if len(value) > 60 && strings.Contains(err.Error(), value[:40]) {
					t.Errorf("%s: the error contains the value: %v", part, err)
				}
				continue
			}
			if part != secretvalue.PartPort && secretvalue.Usable(got) != nil {
				t.Errorf("%s of %q is %q, which the server would not accept", part, value, got)
			}
		}
	})
}

// The remedy for a connection string that requires TLS names a release with TLS before a weaker setting.
func TestDeriveNamesTheRelease(t *testing.T) {
	for from, want := range map[string]string{
		"1.4": "; use server release 1.4 or later, or set sslmode=prefer, with which the server may connect without TLS",
		"":    "; set sslmode=prefer, with which the server may connect without TLS",
	} {
		entry := secretvalue.Derived{Part: secretvalue.PartHostPlain, TLSFrom: from}
		_, err := entry.Derive("postgresql://me:hidden@db/stack?sslmode=require")
		if err == nil || !strings.HasSuffix(err.Error(), want) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
