package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan/environment"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/baseconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/secretvalue"
)

// Configuration is a plan for which the server's configuration is complete, but no objects are rendered yet.
type Configuration struct {
	// Derived lists the entries of the Secret with derived values.
	Derived []secretvalue.Derived

	made Plan
}

// Build returns the plan of a stack, without secrets. The pods read the recorded Secret with derived values. The same
// input produces the same plan, byte for byte.
//
// A *ConfigError describes a problem that the user must fix, and names its condition. Any other error is a defect.
func Build(in Input) (*Plan, error) {
	configured, err := Configure(in)
	if err != nil {
		return nil, err
	}
	return configured.Render(in.Running.Record.StorageSecret)
}

// Configure generates or reads the server's configuration. This is the expensive part of Build.
func Configure(in Input) (*Configuration, error) {
	if in.Intent == nil {
		return nil, errors.New("build a plan: the spec was not decoded")
	}
	if errs := Bounded(in.Bounds, in.Object, in.Distribution.Image); len(errs) > 0 {
		return nil, forbidden(errs)
	}
	p := newPlan(in)
	var err error
	switch p.Mode {
	case ModeGenerated:
		if in.LacksBase() {
			err = p.withoutBase(in)
		} else {
			err = p.generate(in)
		}
	case ModeOverride:
		err = p.override(in)
	case ModeImageDefault:
	}
	if err != nil {
		return nil, err
	}
	return &Configuration{Derived: p.Derived, made: *p}, nil
}

// Render renders the objects for the configuration, with the Secret with the derived values. Nil means a Secret that no
// pod has read yet. Its name then does not depend on its values, and it is not in the record.
func (c *Configuration) Render(secret *rollout.StorageSecret) (*Plan, error) {
	p, in := c.made, c.made.source
	p.Warnings, p.secret = slices.Clip(p.Warnings), secret
	if secret != nil {
		p.input.StorageSecret = secret.Name
		p.Env = readFromSecret(p.Env, in.Object.Name, secret.Name)
	}
	if err := p.complete(in); err != nil {
		return nil, err
	}
	return &p, nil
}

// newPlan returns a plan that has its mode set, but no configuration yet.
func newPlan(in Input) *Plan {
	p := &Plan{
		Mode: ModeOf(&in.Object.Spec), ConfigSource: v1alpha2.ConfigSourceImageDefault, source: in, input: renderInput(in),
	}
	if p.Mode == ModeGenerated && in.Base == nil && BaseOptional(in.Object) {
		p.Mode = ModeImageDefault
		p.Warnings = append(p.Warnings, workersIgnored(in, fmt.Sprintf(
			"the server's configuration in image %q is unknown, and the operator cannot change it, so the image determines the number of workers; for this field to take effect, set spec.baseConfig", in.Distribution.Image)))
	}
	p.Warnings = append(p.Warnings, in.Trust.Warnings...)
	return p
}

// complete renders the objects for the configuration.
func (p *Plan) complete(in Input) error {
	p.offlineWarnings(in)
	p.Env = withSecretEnv(p.Env, in.Intent)
	// The generated configuration also has the providers of the spec.
	p.input.Paths = paths(in, slices.Concat(configuration(in), []byte("\n"), p.generated()))
	p.input.Server.ServesTLS = p.ServesTLS
	p.input.Server.Insecure = p.refusesPlainHTTP(in) && !in.Distribution.TagAlone()
	p.tagWarning(in)
	p.goneWarning(in)
	if errs := ownVariables(p.input, in.Intent); len(errs) > 0 {
		return invalidSpec(errs)
	}
	if err := p.render(in); err != nil {
		return err
	}
	p.variableWarnings(in)
	return p.checkOverride(in)
}

// refusesPlainHTTP reports whether the server needs an argument to serve plain HTTP. A server with a generated
// configuration does not need this argument.
func (p *Plan) refusesPlainHTTP(in Input) bool {
	return in.Distribution.Release.Runtime.PlainHTTPRefused && !p.ServesTLS && p.Mode != ModeGenerated
}

// generate generates the configuration from base and spec.
func (p *Plan) generate(in Input) error {
	if in.Base == nil {
		return missingBase(in.Distribution.Image)
	}
	base, err := baseconfig.Parse(in.Base.Data)
	if err != nil {
		return badBase(err)
	}
	input := engineInput(in, base)
	input.OwnBase = in.Base.Source == v1alpha2.ConfigSourceConfigMap && !input.ReleaseUnknown
	input.KVTable, input.Directory = in.Before.Table(), in.Before.Directory()
	result, report := stackconfig.Generate(input)
	if result == nil {
		return refused(in, report)
	}
	p.Report = report
	if !in.Unread || in.Distribution.DetectedBy != distribution.Unknown {
		p.releaseWarnings(&in.Distribution)
	}
	p.Warnings = append(p.Warnings, report.Warnings...)
	p.setGenerated(in, result)
	p.keepBase(in)
	p.beneathOwnMount(in)
	return nil
}

// keepBase adds the base to the ConfigMap with the generated configuration, or to another ConfigMap if they do not fit
// into one. A user's ConfigMap keeps the base by itself.
func (p *Plan) keepBase(in Input) {
	p.base = BaseHash(in.Base.Data)
	if in.Base.Source == v1alpha2.ConfigSourceConfigMap {
		return
	}
	p.ConfigMapName = rollout.ConfigMapName(in.Object.Name, p.ConfigHash, p.base)
	p.input.Config.ConfigMapName, p.BaseConfigMapName = p.ConfigMapName, p.ConfigMapName
	if len(p.Config)+len(in.Base.Data) > render.MaxConfig {
		p.BaseConfigMapName = names.BaseConfigMap(in.Object.Name, p.base)
	}
	p.input.Base = &render.Base{ConfigMapName: p.BaseConfigMapName, Data: in.Base.Data}
}

// engineInput returns the part of the input for package stackconfig that is the same for a generated configuration and
// an override.
func engineInput(in Input, base *baseconfig.Base) stackconfig.Input {
	return stackconfig.Input{
		Intent: in.Intent, Base: base, Release: in.Distribution.Release,
		ReleaseUnknown: in.Distribution.DetectedBy == distribution.Unknown, Published: in.Distribution.FromCatalog(),
		Packages: in.Packages,
	}
}

// setGenerated adds the results of the engine to the plan, and mounts the generated configuration.
func (p *Plan) setGenerated(in Input, result *stackconfig.Result) {
	p.Derived, p.Models, p.dropped = result.Derived, result.Models, result.Dropped
	p.Env = result.Env
	p.ProviderCount, p.ResourceCount = int32(result.ProviderCount), int32(result.ResourceCount) //nolint:gosec // bounded by the size of a configuration
	p.ConfigVersion, p.ServesTLS = result.ConfigVersion, result.ServesTLS
	p.ConfigSource = in.Base.Source
	p.external(in, result.External)
	p.input.Directories = result.Directories
	p.input.Registry = registry(in, result.Registry)
	p.mount(in, result.Config, result.Hash)
}

// override mounts the user's own ConfigMap, or a copy if the configuration needs additions or is in another namespace.
func (p *Plan) override(in Input) error {
	if in.Override == nil {
		return errors.New("build a plan with overrideConfig: the ConfigMap was not read")
	}
	p.ConfigSource = v1alpha2.ConfigSourceOverride
	p.Warnings = append(p.Warnings, in.Override.Warnings...)
	if err := readable(in); err != nil {
		return err
	}
	if asV1alpha1(in.Object) {
		return p.overrideAsV1alpha1(in)
	}
	if needsServerSection(&in.Object.Spec) || len(in.Intent.External) > 0 { // the configuration needs additions
		return p.overrideCopy(in)
	}
	p.ServesTLS = stackconfig.ServesTLS(in.Override.Data)
	if in.Override.Namespace != "" {
		p.mount(in, in.Override.Data, hash(in.Override.Data))
		return nil
	}
	p.ConfigHash = hash(in.Override.Data)
	p.ConfigMapName = in.Override.ConfigMapName
	p.input.Config = &render.Config{ConfigMapName: p.ConfigMapName, Key: in.Override.Key, Hash: p.ConfigHash}
	return nil
}

// readable returns an error for a configuration that no server can read, so that the operator does not replace running
// pods with pods that do not start. The user's own command may read another file.
func readable(in Input) error {
	if intent.OwnCommand(&in.Object.Spec) {
		return nil
	}
	if _, err := baseconfig.Read(in.Override.Data); err != nil {
		return notGenerated(v1alpha2.ReasonConfigGenerationFailed, overrideError(in, err))
	}
	return nil
}

// overrideCopy mounts a copy of the user's configuration with the additions.
func (p *Plan) overrideCopy(in Input) error {
	data, err := p.withExternal(in)
	if err != nil {
		return err
	}
	if needsServerSection(&in.Object.Spec) {
		if data, err = stackconfig.OverrideCopy(data, in.Intent.Server); err != nil {
			return notGenerated(v1alpha2.ReasonConfigGenerationFailed, overrideError(in, err))
		}
	}
	p.ServesTLS = stackconfig.ServesTLS(data)
	p.mount(in, data, hash(data))
	return nil
}

// generated returns the generated configuration. It returns nil for the user's or the image's configuration.
func (p *Plan) generated() []byte {
	if p.Mode != ModeGenerated {
		return nil
	}
	return p.Config
}

// mount adds a ConfigMap with a configuration and mounts it.
func (p *Plan) mount(in Input, data []byte, digest string) {
	p.Config, p.ConfigHash = data, digest
	p.ConfigMapName = names.ConfigMap(in.Object.Name, digest)
	p.input.Config = &render.Config{
		ConfigMapName: p.ConfigMapName, Key: names.ConfigFile, Hash: digest, Data: data,
	}
}

// render renders the objects and the record of their Deployment.
func (p *Plan) render(in Input) error {
	p.input.Secrets = variables(p.Env)
	p.input.ServiceLinks = environment.ServiceLinks(p.input, p.generated())
	inputs := p.inputs(in)
	var err error
	if p.input.Inputs, err = rollout.Digest(inputs, in.References); err != nil {
		return err
	}
	p.Exposure, p.ExposureServed = render.Exposure(p.input)
	p.Hostname = render.Hostname(p.input)
	p.input.Backend = p.backend(in.Serving)
	p.exposureWarnings()
	if err := p.renderObjects(in); err != nil {
		return err
	}
	for _, object := range p.Objects {
		if deployment, ok := object.Apply.(*appsv1ac.DeploymentApplyConfiguration); ok {
			return p.recorded(in, inputs, deployment)
		}
	}
	return nil
}

// renderObjects renders the objects. It returns a *ConfigError for a user's values that cannot be rendered.
func (p *Plan) renderObjects(in Input) (err error) {
	p.Objects, err = render.Objects(p.input)
	if _, tooLarge := errors.AsType[*render.TooLargeError](err); tooLarge {
		return notGenerated(v1alpha2.ReasonConfigGenerationFailed, err)
	}
	if invalid, ok := errors.AsType[*render.InvalidError](err); ok {
		return invalidSpec(invalid.Errors)
	}
	if err != nil {
		return fmt.Errorf("render the objects of stack %q: %w", in.Object.Name, err)
	}
	return nil
}

// recorded checks the pods against the limits, determines where the data is stored, and adds the record to the
// Deployment.
func (p *Plan) recorded(in Input, inputs rollout.Inputs, deployment *appsv1ac.DeploymentApplyConfiguration) error {
	err := p.bounded(in, deployment)
	if err != nil {
		return err
	}
	if p.Places, err = p.placesOf(in, deployment); err != nil {
		return err
	}
	if !in.LacksBase() {
		p.Losses = p.losses(in)
		for _, loss := range OffVolume(&in.Object.Spec, p.Places) {
			p.warn(loss.Path, "%s", loss.Message)
		}
	}
	p.unshared(&in.Object.Spec)
	record, err := p.record(in)
	if err != nil {
		return err
	}
	if p.Rendered, err = rollout.NewRendered(deployment, record); err != nil {
		return err
	}
	p.Rendered.Inputs = inputs
	p.surroundings(in)
	return nil
}

// BaseHash returns the hash of a base in the record.
func BaseHash(base []byte) string { return hash(base) }

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
