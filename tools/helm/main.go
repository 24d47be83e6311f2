// Command helm renders and lints a chart folder with Helm's own code: one JSON request a line in,
// one answer a line out.
//
//	{"chart": "FOLDER", "release": "R", "namespace": "N", "values": {...}, "kubeconfig": "FILE"}
//	{"manifests": "documents, as Helm would send them", "notes": "..."}   or   {"error": "why not"}
//	{"chart": "FOLDER", "namespace": "N", "values": {...}, "lint": true}
//	{"lint": ["[WARNING] templates/: ..."]}
//
// Without a kubeconfig `lookup` finds nothing, as in `helm template`.
package main

import (
	"fmt"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	"k8s.io/client-go/tools/clientcmd"

	"roadstead.dev/tools/lines"
)

type request struct {
	Chart     string           `json:"chart"`
	Release   string           `json:"release"`
	Namespace string           `json:"namespace"`
	Values    chartutil.Values `json:"values"`
	// Whom `lookup` asks.
	Kubeconfig string `json:"kubeconfig"`
	Lint       bool   `json:"lint"`
	// The version that `helm install` would find; Helm's own default where it is empty.
	Kubernetes string `json:"kubernetes"`
}

type answer struct {
	Manifests string   `json:"manifests"`
	Notes     string   `json:"notes,omitempty"`
	Lint      []string `json:"lint,omitempty"`
	Error     string   `json:"error,omitempty"`
}

// engineOf gives an engine that asks a cluster, or none.
func engineOf(kubeconfig string) (engine.Engine, error) {
	if kubeconfig == "" {
		return engine.Engine{}, nil
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return engine.Engine{}, err
	}
	return engine.New(config), nil
}

// render does what `helm template` does: defaults of the chart, the values' schema, the engine.
func render(asked request, said *answer) error {
	found, err := loader.Load(asked.Chart)
	if err != nil {
		return err
	}
	about := chartutil.ReleaseOptions{Name: asked.Release, Namespace: asked.Namespace, IsInstall: true, Revision: 1}
	able := chartutil.DefaultCapabilities.Copy()
	if asked.Kubernetes != "" {
		version, err := chartutil.ParseKubeVersion(asked.Kubernetes)
		if err != nil {
			return err
		}
		able.KubeVersion = *version
	}
	if wanted := found.Metadata.KubeVersion; wanted != "" && !chartutil.IsCompatibleRange(wanted, able.KubeVersion.String()) {
		return fmt.Errorf("chart requires kubeVersion: %s which is incompatible with Kubernetes %s", wanted, able.KubeVersion.String())
	}
	values, err := chartutil.ToRenderValues(found, asked.Values, about, able)
	if err != nil {
		return err
	}
	templates, err := engineOf(asked.Kubeconfig)
	if err != nil {
		return err
	}
	files, err := templates.Render(found, values)
	if err != nil {
		return err
	}
	names := make([]string, 0, len(files))
	for name := range files {
		if strings.HasSuffix(name, "NOTES.txt") {
			said.Notes = files[name]
		} else {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var whole strings.Builder
	for _, name := range names {
		fmt.Fprintf(&whole, "---\n%s\n", files[name])
	}
	said.Manifests = whole.String()
	return nil
}

// linted does what `helm lint` does, and gives everything above an information.
func linted(asked request) []string {
	found := []string{}
	for _, one := range lint.All(asked.Chart, asked.Values, asked.Namespace, false).Messages {
		if one.Severity > support.InfoSev {
			found = append(found, one.Error())
		}
	}
	return found
}

func answered(asked request) (said answer, err error) {
	if asked.Lint {
		said.Lint = linted(asked)
	} else {
		err = render(asked, &said)
	}
	return said, err
}

func main() {
	lines.Serve(answered, func(said *answer, err error) { said.Error = err.Error() })
}
