package validate

import (
	"regexp"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

const maxDirectory = 256

var (
	directoryForm = regexp.MustCompile(`^[^/:]+(/[^/:]+)*$`)
	upwardsForm   = regexp.MustCompile(`(^|/)[.][.](/|$)`)
)

func (c *checks) modelFiles() *v1alpha2.ModelFilesSpec { return orZero(c.Spec.ModelFiles) }

func modelFilesOne(c *checks) {
	path := spec("modelFiles")
	switch files := c.Spec.ModelFiles; {
	case files == nil:
	case files.PersistentVolumeClaim == nil && files.Image == nil:
		c.Required(path, "set either persistentVolumeClaim or image to provide the files")
	case files.PersistentVolumeClaim != nil && files.Image != nil:
		c.Forbidden(path, "persistentVolumeClaim and image are mutually exclusive: remove one of them")
	}
}

func modelFilesClaim(c *checks) {
	if claim := c.modelFiles().PersistentVolumeClaim; claim != nil {
		c.objectName(spec("modelFiles", "persistentVolumeClaim", "claimName"), "PersistentVolumeClaim", claim.ClaimName)
	}
}

func modelFilesImage(c *checks) {
	image, path := c.modelFiles().Image, spec("modelFiles", "image")
	if image == nil {
		return
	}
	c.Add(Image(path.Child("reference"), image.Reference)...)
	pullPolicy(c, path.Child("pullPolicy"), image.PullPolicy)
	switch at := image.Path; {
	case at == "":
	case len(at) > maxMountPath:
		c.tooLong(path.Child("path"), at, maxMountPath)
	case !absoluteForm.MatchString(at) || dotsForm.MatchString(at):
		c.InvalidText(path.Child("path"), at, `is not an absolute path: write a path such as /models, without ":", without "//" and without the segments "." and ".."`)
	}
}

func modelFilesDirectories(c *checks) {
	files, path := c.modelFiles(), spec("modelFiles")
	c.directoryBelow(path.Child("huggingFaceCache"), files.HuggingFaceCache, "hub")
	c.directoryBelow(path.Child("tiktokenCache"), files.TiktokenCache, "tiktoken")
}

func (c *checks) directoryBelow(path *field.Path, at, example string) {
	switch {
	case at == "":
	case len(at) > maxDirectory:
		c.tooLong(path, at, maxDirectory)
	case !directoryForm.MatchString(at) || upwardsForm.MatchString(at):
		c.InvalidText(path, at, `is not a relative directory: write a directory such as %s, without a leading or trailing "/", without "//", without ":" and without the segment ".."`, example)
	}
}
