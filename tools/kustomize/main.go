// Command kustomize builds folders with Kustomize's own library: one JSON request a line in, one
// answer a line out.
//
//	{"folder": "FOLDER"}
//	{"objects": "documents, as kustomize build prints them"}   or   {"error": "why not"}
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

type request struct {
	Folder string `json:"folder"`
}

type answer struct {
	Objects string `json:"objects"`
	Error   string `json:"error,omitempty"`
}

// build does what `kustomize build FOLDER` does without flags.
func build(folder string) (string, error) {
	found, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), folder)
	if err != nil {
		return "", err
	}
	text, err := found.AsYaml()
	return string(text), err
}

func run(in io.Reader, out io.Writer) error {
	lines, answers := bufio.NewReader(in), json.NewEncoder(out)
	for {
		line, end := lines.ReadBytes('\n')
		if len(line) > 0 {
			var asked request
			var said answer
			err := json.Unmarshal(line, &asked)
			if err == nil {
				said.Objects, err = build(asked.Folder)
			}
			if err != nil {
				said.Error = err.Error()
			}
			if err := answers.Encode(said); err != nil {
				return err
			}
		}
		if end == io.EOF {
			return nil
		}
		if end != nil {
			return end
		}
	}
}

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(2)
	}
}
