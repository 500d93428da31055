package migration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ErrChanged is the error that a run returns if the definition changed during the run. Other clients may have stored
// objects in another version during the run.
var ErrChanged = errors.New("the CustomResourceDefinition changed during the migration; run the migration again")

// kind is a kind with its version.
type kind = schema.GroupVersionKind

// definition contains the versions of a CustomResourceDefinition.
type definition struct {
	uid             types.UID
	resourceVersion string
	generation      int64
	kind            schema.GroupKind
	// storage is the storage version. The field `stored` contains the versions in which objects may be stored. The field
	// `served` contains the versions that the API server serves.
	storage        string
	stored, served []string
	// converts reports whether a webhook converts objects. Without a webhook, the API server converts an object by
	// changing only its apiVersion, and then drops the fields that the new version does not have.
	converts bool
	// versions lists all versions in the order of the definition.
	versions []apiextensionsv1.CustomResourceDefinitionVersion
}

// storageKind returns the kind in the storage version, in which objects are listed and written. If the operator's
// ValidatingAdmissionPolicy is installed, a write of an object requires the same number of conversions in either
// version (nine on Kubernetes 1.36: reads, writes, watches, and managed fields of the other version). In the storage
// version, a list of migrated objects requires no conversion.
func (d *definition) storageKind() kind { return d.kind.WithVersion(d.storage) }

// migrated reports whether all objects are stored in the storage version.
func (d *definition) migrated() bool { return slices.Equal(d.stored, []string{d.storage}) }

// check returns an error if the API server does not serve the given version, or if objects would lose fields when they
// are stored in this version.
func (d *definition) check(version string) error {
	switch {
	case !slices.Contains(d.served, version):
		return fmt.Errorf("the CustomResourceDefinition serves only %s, and not %q; "+
			"apply this operator's CustomResourceDefinition", strings.Join(d.served, ", "), version)
	case !d.converts && !slices.Equal(d.stored, []string{version}):
		return errors.New("the CustomResourceDefinition has no conversion webhook, so objects would lose the fields " +
			"that exist only in the other version; install the operator with its webhooks first")
	default:
		return nil
	}
}

// read reads the definition.
func (m *Migrator) read(ctx context.Context) (*definition, error) {
	var found apiextensionsv1.CustomResourceDefinition
	if err := m.client.Get(ctx, client.ObjectKey{Name: m.definition}, &found); err != nil {
		return nil, fmt.Errorf("read CustomResourceDefinition %q: %w", m.definition, err)
	}
	read := &definition{
		uid: found.UID, resourceVersion: found.ResourceVersion, generation: found.Generation,
		kind:   schema.GroupKind{Group: found.Spec.Group, Kind: found.Spec.Names.Kind},
		stored: found.Status.StoredVersions, versions: found.Spec.Versions,
		converts: found.Spec.Conversion != nil && found.Spec.Conversion.Strategy == apiextensionsv1.WebhookConverter,
	}
	for _, version := range found.Spec.Versions {
		if version.Storage {
			read.storage = version.Name
		}
		if version.Served {
			read.served = append(read.served, version.Name)
		}
	}
	return read, nil
}

// readAgain reads the definition. It returns ErrChanged if the definition has been replaced, or its spec has changed,
// since the earlier read that returned `before`. Comparing only the storage versions is not sufficient, because a
// client might have changed the storage version and reverted the change.
func (m *Migrator) readAgain(ctx context.Context, before *definition) (*definition, error) {
	now, err := m.read(ctx)
	if err != nil {
		return nil, err
	}
	if now.uid != before.uid || now.generation != before.generation {
		return nil, ErrChanged
	}
	return now, nil
}

// trim removes the versions other than the storage version from the list of stored versions. It returns ErrChanged if
// the definition changed.
func (m *Migrator) trim(ctx context.Context, before *definition) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		now, err := m.readAgain(ctx, before)
		if err != nil {
			return err
		}
		if now.migrated() {
			return nil
		}
		patch, err := json.Marshal(map[string]any{
			"metadata": map[string]any{"resourceVersion": now.resourceVersion},
			"status":   map[string]any{"storedVersions": []string{now.storage}},
		})
		if err != nil {
			return fmt.Errorf("encode a patch: %w", err)
		}
		if err := m.client.Status().Patch(ctx, m.object(), client.RawPatch(types.MergePatchType, patch)); err != nil {
			return fmt.Errorf("update the stored versions of CustomResourceDefinition %q: %w", m.definition, err)
		}
		return nil
	})
}

// SetStorageVersion makes `version` the storage version, and reports whether the storage version changed. Stored
// objects do not change until Run is called.
func (m *Migrator) SetStorageVersion(ctx context.Context, version string) (bool, error) {
	now, err := m.read(ctx)
	if err != nil {
		return false, err
	}
	if err := now.check(version); err != nil {
		return false, err
	}
	if now.storage == version {
		return false, nil
	}
	patch, err := json.Marshal(now.storagePatch(version))
	if err != nil {
		return false, fmt.Errorf("encode a patch: %w", err)
	}
	if err := m.client.Patch(ctx, m.object(), client.RawPatch(types.JSONPatchType, patch)); err != nil {
		return false, fmt.Errorf("set the storage version of CustomResourceDefinition %q: %w", m.definition, err)
	}
	return true, nil
}

// operation is an operation of a JSON patch.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// storagePatch returns a patch that sets the storage version. The patch fails if the versions of the definition have
// changed.
func (d *definition) storagePatch(version string) []operation {
	var operations []operation
	for i, v := range d.versions {
		path := fmt.Sprintf("/spec/versions/%d", i)
		operations = append(operations,
			operation{"test", path + "/name", v.Name}, operation{"test", path + "/storage", v.Storage},
			operation{"replace", path + "/storage", v.Name == version})
	}
	return operations
}

// object returns an object that identifies the definition as the target of a patch.
func (m *Migrator) object() *apiextensionsv1.CustomResourceDefinition {
	object := &apiextensionsv1.CustomResourceDefinition{}
	object.Name = m.definition
	return object
}

// WebhookNamespace returns the namespace of the Service in the conversion webhook of a definition, or "".
func WebhookNamespace(definition *apiextensionsv1.CustomResourceDefinition) string {
	if definition == nil || definition.Spec.Conversion == nil || definition.Spec.Conversion.Webhook == nil {
		return ""
	}
	if of := definition.Spec.Conversion.Webhook.ClientConfig; of != nil && of.Service != nil {
		return of.Service.Namespace
	}
	return ""
}
