// Command kustomize builds folders with Kustomize's own library: one JSON request a line in, one
// answer a line out.
//
//	{"folder": "FOLDER"}
//	{"objects": "documents, as kustomize build prints them"}   or   {"error": "why not"}
package main

import (
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"roadstead.dev/tools/lines"
)

type request struct {
	Folder string `json:"folder"`
}

type answer struct {
	Objects string `json:"objects"`
	Error   string `json:"error,omitempty"`
}

// build does what `kustomize build FOLDER` does without flags.
func build(asked request) (answer, error) {
	found, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), asked.Folder)
	if err != nil {
		return answer{}, err
	}
	text, err := found.AsYaml()
	return answer{Objects: string(text)}, err
}

func main() {
	lines.Serve(build, func(said *answer, err error) { said.Error = err.Error() })
}
