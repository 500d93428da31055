package image

import (
	"fmt"

	"github.com/google/go-containerregistry/pkg/v1/types"
)

// ociTypes maps Docker media types to the OCI media types for the same content.
var ociTypes = map[types.MediaType]types.MediaType{
	types.DockerManifestList:      types.OCIImageIndex,
	types.DockerManifestSchema2:   types.OCIManifestSchema1,
	types.DockerConfigJSON:        types.OCIConfigJSON,
	types.DockerLayer:             types.OCILayer,
	types.DockerUncompressedLayer: types.OCIUncompressedLayer,
	types.DockerForeignLayer:      types.OCIRestrictedLayer,
}

// convertType replaces a Docker media type in a manifest, an index or a descriptor, because only OCI descriptors can
// embed the configuration of an image. It reports whether it changed the object.
func (o object) convertType() bool {
	converted, ok := ociTypes[types.MediaType(o.text("mediaType"))]
	if ok {
		o.set("mediaType", string(converted))
	}
	return ok
}

// convertTypes replaces the Docker media types in the manifest of an image.
func convertTypes(manifest object) error {
	layers, err := manifest.list("layers")
	if err != nil {
		return err
	}
	for i, layer := range layers {
		entry, err := decodeObject(layer)
		if err != nil {
			return fmt.Errorf("layers[%d] %w", i, err)
		}
		if entry.convertType() {
			layers[i] = entry.encode()
		}
	}
	if layers != nil {
		manifest.set("layers", layers)
	}
	manifest.convertType()
	return nil
}
