// Package crds keeps the module whose types become the HelmRelease definition in go.mod.
package crds

import _ "github.com/fluxcd/helm-controller/api/v2"
