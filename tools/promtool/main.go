// Command promtool checks and tries alert rules with Prometheus' own code: one JSON request a line
// in, one answer a line out.
//
//	{"rules": "FILE"}                       every rule, as Prometheus loads it
//	{"expressions": ["up == 0"]}            each expression, as PromQL
//	{"rules": "FILE", "series": [{"series": "up{a=\"b\"}", "values": "0x10"}],
//	 "interval": "1m", "at": "10m"}         and what fires at that time
//
//	{"metrics": ["up"], "firing": [{"alertname": "X", ...}], "annotations": [{...}]}
//	or {"error": "why not"}
package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/common/promslog"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"

	"roadstead.dev/tools/lines"
)

type series struct {
	Series string `json:"series"`
	Values string `json:"values"`
}

type request struct {
	Rules       string   `json:"rules"`
	Expressions []string `json:"expressions"`
	Series      []series `json:"series"`
	Interval    string   `json:"interval"`
	At          string   `json:"at"`
}

type answer struct {
	Metrics     []string            `json:"metrics"`
	Firing      []map[string]string `json:"firing,omitempty"`
	Annotations []map[string]string `json:"annotations,omitempty"`
	Error       string              `json:"error,omitempty"`
}

var language = parser.NewParser(parser.Options{})

// metrics gives the names that an expression selects.
func metrics(expression string) ([]string, error) {
	parsed, err := language.ParseExpr(expression)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", expression, err)
	}
	var found []string
	parser.Inspect(parsed, func(node parser.Node, _ []parser.Node) error {
		if selector, ok := node.(*parser.VectorSelector); ok {
			found = append(found, selector.Name)
		}
		return nil
	})
	return found, nil
}

// checked gives the expressions of a file of rules, which Prometheus has accepted.
func checked(file string) ([]string, error) {
	groups, errs := rulefmt.ParseFile(file, false, model.UTF8Validation, language, promslog.NewNopLogger())
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	var found []string
	for _, group := range groups.Groups {
		for _, rule := range group.Rules {
			found = append(found, rule.Expr)
		}
	}
	return found, nil
}

// try evaluates the rules from the beginning of time as Prometheus would, and tells what fires.
func try(asked request, said *answer) error {
	step, err := model.ParseDuration(asked.Interval)
	if err != nil {
		return err
	}
	end, err := model.ParseDuration(asked.At)
	if err != nil {
		return err
	}
	var load strings.Builder
	fmt.Fprintf(&load, "load %s\n", step)
	for _, one := range asked.Series {
		fmt.Fprintf(&load, "  %s %s\n", one.Series, one.Values)
	}
	suite, err := promqltest.NewLazyLoader(load.String(), promqltest.LazyLoaderOpts{
		EnableAtModifier: true, EnableNegativeOffset: true,
	})
	if err != nil {
		return err
	}
	defer suite.Close()
	suite.SubqueryInterval = time.Duration(step)
	manager := rules.NewManager(&rules.ManagerOptions{
		QueryFunc:  rules.EngineQueryFunc(suite.QueryEngine(), suite.Storage()),
		Appendable: suite.Storage(),
		Context:    context.Background(),
		NotifyFunc: func(context.Context, string, ...*rules.Alert) {},
		Logger:     promslog.NewNopLogger(),
		Parser:     language,
	})
	groups, errs := manager.LoadGroups(time.Duration(step), labels.EmptyLabels(), "", nil, false, asked.Rules)
	if errs != nil {
		return errors.Join(errs...)
	}
	for _, group := range groups {
		for _, rule := range group.AlertingRules() {
			rule.SetRestored(true)
		}
	}
	for at := time.Unix(0, 0).UTC(); !at.After(time.Unix(0, 0).Add(time.Duration(end))); at = at.Add(time.Duration(step)) {
		var wrong error
		suite.WithSamplesTill(at, func(err error) {
			if wrong = err; err != nil {
				return
			}
			for _, group := range groups {
				group.Eval(suite.Context(), at)
				for _, rule := range group.Rules() {
					wrong = errors.Join(wrong, rule.LastError())
				}
			}
		})
		if wrong != nil {
			return wrong
		}
	}
	for _, group := range groups {
		for _, rule := range group.AlertingRules() {
			for _, alert := range rule.ActiveAlerts() {
				if alert.State == rules.StateFiring {
					said.Firing = append(said.Firing, alert.Labels.Map())
					said.Annotations = append(said.Annotations, alert.Annotations.Map())
				}
			}
		}
	}
	return nil
}

func answered(asked request) (said answer, err error) {
	expressions := asked.Expressions
	if asked.Rules != "" {
		if expressions, err = checked(asked.Rules); err != nil {
			return said, err
		}
	}
	for _, one := range expressions {
		found, err := metrics(one)
		if err != nil {
			return said, err
		}
		said.Metrics = append(said.Metrics, found...)
	}
	slices.Sort(said.Metrics)
	said.Metrics = slices.Compact(said.Metrics)
	if asked.At != "" {
		err = try(asked, &said)
	}
	return said, err
}

func main() {
	lines.Serve(answered, func(said *answer, err error) { said.Error = err.Error() })
}
