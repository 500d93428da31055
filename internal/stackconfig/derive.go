package stackconfig

// Part is a part of a connection string.
type Part string

// The parts that a derived Secret can hold.
const (
	PartHost     Part = "host"
	PartPort     Part = "port"
	PartDB       Part = "db"
	PartUser     Part = "user"
	PartPassword Part = "password"
	// PartPasswordEncoded is the password URL-encoded, for a backend that pastes
	// it into a URL as it is.
	PartPasswordEncoded Part = "password-encoded"
	// PartSSLMode is the sslmode, prefer when the string has none.
	PartSSLMode Part = "sslmode"
	// PartEncoded is the whole value, URL-encoded.
	PartEncoded Part = "encoded"
)

// DerivedValue is one entry of the Secret <name>-storage: a part of a value that
// is in another Secret.
type DerivedValue struct {
	// Key in <name>-storage.
	Key string
	// Secret and SecretKey name the value it is derived from.
	Secret, SecretKey string
	// Part is what of that value.
	Part Part
	// FieldPath is the reference in the spec.
	FieldPath string
}
