package intent

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

// The ids of the two state stores in the names of their variables: LLSD_STORAGE_KV_PASSWORD.
const (
	KVID  = "storage-kv"
	SQLID = "storage-sql"
)

// Purpose is the purpose of a secret reference.
type Purpose string

const (
	// PurposeProvider is a value of a provider's configuration.
	PurposeProvider Purpose = "Provider"
	// PurposePassword is the password of a key-value store.
	PurposePassword Purpose = "Password"
	// PurposeConnectionString is a PostgreSQL connection string, which is split into parts for the server.
	PurposeConnectionString Purpose = "ConnectionString"
	// PurposeVariable is a variable of the user (secretEnv).
	PurposeVariable Purpose = "Variable"
	// PurposeCertificate is one half of the server's certificate, which is mounted
	// as a file.
	PurposeCertificate Purpose = "Certificate"
)

// SecretUse is one reference to a Secret with its variable.
type SecretUse struct {
	// Secret and Key identify the value.
	Secret, Key string
	// Path is the field path of the reference: spec.providers.inference.apiKey.secretKeyRef.
	Path string
	// EnvVar is the variable's name. Empty means that the value is mounted as a file. A connection string has a name
	// too, although the server gets its parts in separate variables.
	EnvVar  string
	Purpose Purpose
}

// nameSecrets sets the variable of each secret reference, and lists all references, sorted by variable. It lists two
// references to the same value separately, because their paths differ.
func nameSecrets(in *Intent) []SecretUse {
	var uses []SecretUse
	add := func(ref *SecretRef, variable string, purpose Purpose) {
		if ref != nil {
			ref.EnvVar = variable
			uses = append(uses, SecretUse{
				Secret: ref.Name, Key: ref.Key, Path: ref.Path.String(), EnvVar: variable, Purpose: purpose,
			})
		}
	}
	for i := range in.Providers {
		p := &in.Providers[i]
		if in.ExternalWith(p.API, p.ID) != nil {
			continue // an external provider replaces it
		}
		add(p.APIKey, names.EnvVar(p.ID, names.FieldAPIKey), PurposeProvider)
		for k := range p.Secrets {
			add(&p.Secrets[k].SecretRef, names.EnvVar(p.ID, p.Secrets[k].Key), PurposeProvider)
		}
	}
	for i := range in.External {
		p := &in.External[i]
		for k := range p.Secrets {
			add(&p.Secrets[k].SecretRef, names.EnvVar(p.ID, p.Secrets[k].Key), PurposeProvider)
		}
	}
	addStore := func(store *Store, id string) {
		if store != nil {
			add(store.Password, names.EnvVar(id, names.FieldPassword), PurposePassword)
			add(store.ConnectionString, names.EnvVar(id, names.FieldConnectionString), PurposeConnectionString)
		}
	}
	addStore(in.Storage.KV, KVID)
	addStore(in.Storage.SQL, SQLID)
	if tls := in.Server.TLS; tls != nil {
		for _, key := range []string{names.TLSCertificate, names.TLSKey} {
			add(&SecretRef{Name: tls.SecretName, Key: key, Path: tls.Path}, "", PurposeCertificate)
		}
	}
	for i := range in.SecretEnv {
		add(&in.SecretEnv[i].SecretRef, in.SecretEnv[i].Name, PurposeVariable)
	}
	slices.SortStableFunc(uses, func(a, b SecretUse) int { return strings.Compare(a.EnvVar, b.EnvVar) })
	return uses
}

// Each reconcile reads the Secrets of a stack, and each reference is a variable of its pods. The lists of providers are
// limited separately, which does not limit their total.
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
			"the stack refers to %d Secrets, which exceeds the limit of %d: combine the keys of several Secrets in one", count, maxSecrets)
	}
	if count := len(uses); count > maxSecretReferences {
		errs.Forbidden(field.NewPath(uses[maxSecretReferences].Path),
			"the stack has %d references to Secrets, which exceeds the limit of %d: remove some", count, maxSecretReferences)
	}
}

// collisions rejects two references with the same variable and different values (FR-022).
func collisions(uses []SecretUse, errs *Errors) {
	for i := 1; i < len(uses); i++ {
		a, b := uses[i-1], uses[i]
		if a.EnvVar == b.EnvVar && a.EnvVar != "" && (a.Secret != b.Secret || a.Key != b.Key) {
			errs.Forbidden(field.NewPath(b.Path),
				"is stored in the variable %s, and so is %s, which has a different value; give one of the two providers another id", b.EnvVar, a.Path)
		}
	}
}
