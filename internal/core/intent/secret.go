package intent

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// These are the IDs of the two state stores in the names of their variables, such as LLSD_STORAGE_KV_PASSWORD.
const (
	KVID  = "storage-kv"
	SQLID = "storage-sql"
)

// Purpose is the purpose of a secret reference.
type Purpose string

const (
	// PurposeProvider is the purpose of a value in a provider's configuration.
	PurposeProvider Purpose = "Provider"
	// PurposePassword is the purpose of a key-value store's password.
	PurposePassword Purpose = "Password"
	// PurposeConnectionString is the purpose of a PostgreSQL connection string, which is split into parts for the server.
	PurposeConnectionString Purpose = "ConnectionString"
	// PurposeVariable is the purpose of a user's own variable (secretEnv).
	PurposeVariable Purpose = "Variable"
	// PurposeCertificate is the purpose of the server's certificate and of its key, which are mounted as files.
	PurposeCertificate Purpose = "Certificate"
)

// SecretUse is one reference to a Secret, with the environment variable for its value.
type SecretUse struct {
	// Secret and Key identify the value.
	Secret, Key string
	// Path is the field path of the reference, for example spec.providers.inference.apiKey.secretKeyRef.
	Path string
	// EnvVar is the name of the environment variable with the value. Empty means that the value is mounted as a file. A
	// connection string also has such a name, although the server receives its parts in separate variables.
	EnvVar  string
	Purpose Purpose
}

// nameSecrets sets the variable of each secret reference, and lists all references, sorted by variable. It lists two
// references to the same value separately, because their paths differ. It skips the references of a provider that an
// external provider replaces.
func nameSecrets(in *Intent) []SecretUse {
	var uses secretUses
	for i := range in.Providers {
		if p := &in.Providers[i]; in.ExternalWith(p.API, p.ID) == nil { // no external provider replaces it
			uses.add(p.APIKey, names.EnvVar(p.ID, names.FieldAPIKey), PurposeProvider)
			uses.addKeys(p.ID, p.Secrets)
		}
	}
	for i := range in.External {
		uses.addKeys(in.External[i].ID, in.External[i].Secrets)
	}
	uses.addStore(in.Storage.KV, KVID)
	uses.addStore(in.Storage.SQL, SQLID)
	if tls := in.Server.TLS; tls != nil {
		for _, key := range []string{names.TLSCertificate, names.TLSKey} {
			uses.add(&SecretRef{Name: tls.SecretName, Key: key, Path: tls.Path}, "", PurposeCertificate)
		}
	}
	for i := range in.SecretEnv {
		uses.add(&in.SecretEnv[i].SecretRef, in.SecretEnv[i].Name, PurposeVariable)
	}
	slices.SortStableFunc(uses, func(a, b SecretUse) int { return strings.Compare(a.EnvVar, b.EnvVar) })
	return uses
}

// secretUses collects references to Secrets, and sets the variable of each reference.
type secretUses []SecretUse

// add adds a reference, if there is one.
func (u *secretUses) add(ref *SecretRef, variable string, purpose Purpose) {
	if ref != nil {
		ref.EnvVar = variable
		*u = append(*u, SecretUse{
			Secret: ref.Name, Key: ref.Key, Path: ref.Path.String(), EnvVar: variable, Purpose: purpose,
		})
	}
}

// addKeys adds the keys of a provider's configuration.
func (u *secretUses) addKeys(provider string, keys []SecretKey) {
	for i := range keys {
		u.add(&keys[i].SecretRef, names.EnvVar(provider, keys[i].Key), PurposeProvider)
	}
}

func (u *secretUses) addStore(store *Store, id string) {
	if store != nil {
		u.add(store.Password, names.EnvVar(id, names.FieldPassword), PurposePassword)
		u.add(store.ConnectionString, names.EnvVar(id, names.FieldConnectionString), PurposeConnectionString)
	}
}

// These limits apply to a whole stack. Each reconcile reads the Secrets of a stack, and the pods have variables for all
// references except those of the certificate. The limits for individual provider lists do not limit the total.
const (
	maxSecrets          = 256
	maxSecretReferences = 2000
)

func tooManySecrets(uses []SecretUse, errs *Errors) {
	named, beyond := make(map[string]bool), ""
	for _, use := range uses {
		named[use.Secret] = true
		if len(named) > maxSecrets && beyond == "" {
			beyond = use.Path
		}
	}
	if count := len(named); count > maxSecrets {
		errs.Forbidden(field.NewPath(beyond),
			"the stack refers to %d Secrets, but the limit is %d: combine the keys of several Secrets in one Secret", count, maxSecrets)
	}
	if count := len(uses); count > maxSecretReferences {
		errs.Forbidden(field.NewPath(uses[maxSecretReferences].Path),
			"the stack has %d references to Secrets, but the limit is %d: remove some of these references", count, maxSecretReferences)
	}
}

// collisions rejects two references with the same variable and different values (FR-022).
func collisions(uses []SecretUse, errs *Errors) {
	for i := 1; i < len(uses); i++ {
		a, b := uses[i-1], uses[i]
		if a.EnvVar == b.EnvVar && a.EnvVar != "" && (a.Secret != b.Secret || a.Key != b.Key) {
			errs.Forbidden(field.NewPath(b.Path),
				"is stored in the variable %s, but %s uses the same variable for a different Secret or key; "+
					"give one of the providers another ID, or remove one of the two references", b.EnvVar, a.Path)
		}
	}
}
