// Writes an OCI image layout of layers that are given as tar files, and reads one.
//
// One request a line, one answer a line:
//
//	{"do": "write", "layers": ["base.tar"], "config": {...}, "annotations": {...},
//	 "name": "0.1.0", "to": "image"}                        {"digest": "sha256:...", "size": 1}
//	{"do": "check", "from": "image"}                        {"digest": "sha256:..."}
//	{"do": "flatten", "from": "image", "to": "root.tar"}    {"digest": "sha256:..."}
//
// `config` is an image's config file; its layers and history are filled in here. `check` reads every
// blob and compares digest, size and diff id. `flatten` writes what a container would see.
// A request that fails answers {"error": "..."}.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"roadstead.dev/tools/lines"
)

type request struct {
	Do          string            `json:"do"`
	Layers      []string          `json:"layers"`
	Config      *v1.ConfigFile    `json:"config"`
	Annotations map[string]string `json:"annotations"`
	Name        string            `json:"name"`
	From        string            `json:"from"`
	To          string            `json:"to"`
}

type answer struct {
	Digest string `json:"digest,omitempty"`
	Size   int64  `json:"size,omitempty"`
	Error  string `json:"error,omitempty"`
}

func main() {
	lines.Serve(answered, func(said *answer, err error) { said.Error = err.Error() })
}

func answered(asked request) (answer, error) {
	switch asked.Do {
	case "write":
		return write(asked)
	case "check":
		return check(asked)
	case "flatten":
		return flatten(asked)
	}
	return answer{}, fmt.Errorf("unknown request %q", asked.Do)
}

func write(asked request) (answer, error) {
	if asked.Config == nil {
		return answer{}, errors.New("no config")
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	for _, file := range asked.Layers {
		layer, err := tarball.LayerFromFile(file, tarball.WithMediaType(types.OCILayer))
		if err != nil {
			return answer{}, fmt.Errorf("%s: %w", file, err)
		}
		image, err = mutate.Append(image, mutate.Addendum{
			Layer:   layer,
			History: v1.History{Created: asked.Config.Created, CreatedBy: path.Base(file)},
		})
		if err != nil {
			return answer{}, fmt.Errorf("%s: %w", file, err)
		}
	}
	built, err := image.ConfigFile()
	if err != nil {
		return answer{}, err
	}
	config := *asked.Config
	config.RootFS, config.History = built.RootFS, built.History
	if image, err = mutate.ConfigFile(image, &config); err != nil {
		return answer{}, err
	}
	image = mutate.Annotations(image, asked.Annotations).(v1.Image)
	place, err := layout.Write(asked.To, empty.Index)
	if err != nil {
		return answer{}, err
	}
	if err := place.AppendImage(image,
		layout.WithPlatform(v1.Platform{OS: config.OS, Architecture: config.Architecture}),
		layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": asked.Name}),
	); err != nil {
		return answer{}, err
	}
	return described(image)
}

func check(asked request) (answer, error) {
	image, err := only(asked.From)
	if err != nil {
		return answer{}, err
	}
	if err := validate.Image(image); err != nil {
		return answer{}, err
	}
	return described(image)
}

func flatten(asked request) (answer, error) {
	image, err := only(asked.From)
	if err != nil {
		return answer{}, err
	}
	tree := mutate.Extract(image)
	defer tree.Close()
	file, err := os.Create(asked.To)
	if err != nil {
		return answer{}, err
	}
	if _, err := io.Copy(file, tree); err != nil {
		return answer{}, errors.Join(err, file.Close())
	}
	if err := file.Close(); err != nil {
		return answer{}, err
	}
	return described(image)
}

// only gives the one image of a layout.
func only(from string) (v1.Image, error) {
	index, err := layout.ImageIndexFromPath(from)
	if err != nil {
		return nil, err
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return nil, err
	}
	if len(manifest.Manifests) != 1 {
		return nil, fmt.Errorf("%s holds %d images, not one", from, len(manifest.Manifests))
	}
	return index.Image(manifest.Manifests[0].Digest)
}

func described(image v1.Image) (answer, error) {
	digest, err := image.Digest()
	if err != nil {
		return answer{}, err
	}
	layers, err := image.Layers()
	if err != nil {
		return answer{}, err
	}
	var size int64
	for _, layer := range layers {
		one, err := layer.Size()
		if err != nil {
			return answer{}, err
		}
		size += one
	}
	return answer{Digest: digest.String(), Size: size}, nil
}
