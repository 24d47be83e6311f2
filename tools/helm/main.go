// Command helm renders a chart folder with Helm's own engine: one JSON request a line in, one
// answer a line out.
//
//	{"chart": "FOLDER", "release": "R", "namespace": "N", "values": {...}}
//	{"manifests": "documents, as Helm would send them"}   or   {"error": "why not"}
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
)

type request struct {
	Chart     string           `json:"chart"`
	Release   string           `json:"release"`
	Namespace string           `json:"namespace"`
	Values    chartutil.Values `json:"values"`
}

type answer struct {
	Manifests string `json:"manifests"`
	Error     string `json:"error,omitempty"`
}

// render does what `helm template` does: defaults of the chart, the values' schema, the engine.
func render(asked request) (string, error) {
	found, err := loader.Load(asked.Chart)
	if err != nil {
		return "", err
	}
	about := chartutil.ReleaseOptions{Name: asked.Release, Namespace: asked.Namespace, IsInstall: true, Revision: 1}
	values, err := chartutil.ToRenderValues(found, asked.Values, about, chartutil.DefaultCapabilities)
	if err != nil {
		return "", err
	}
	files, err := engine.Render(found, values)
	if err != nil {
		return "", err
	}
	names := make([]string, 0, len(files))
	for name := range files {
		if !strings.HasSuffix(name, "NOTES.txt") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var whole strings.Builder
	for _, name := range names {
		fmt.Fprintf(&whole, "---\n%s\n", files[name])
	}
	return whole.String(), nil
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
				said.Manifests, err = render(asked)
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
