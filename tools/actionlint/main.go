// Command actionlint judges workflow files with actionlint's own rules: one JSON request a line in,
// one answer a line out. Other programs that actionlint would call are not.
//
//	{"file": "WORKFLOW"}
//	{"faults": ["WORKFLOW:1:2: what is wrong [rule]"]}   or   {"error": "why not"}
package main

import (
	"io"

	"github.com/rhysd/actionlint"

	"roadstead.dev/tools/lines"
)

type request struct {
	File string `json:"file"`
}

type answer struct {
	Faults []string `json:"faults"`
	Error  string   `json:"error,omitempty"`
}

func judge(asked request) (answer, error) {
	linter, err := actionlint.NewLinter(io.Discard, &actionlint.LinterOptions{})
	if err != nil {
		return answer{}, err
	}
	found, err := linter.LintFile(asked.File, nil)
	if err != nil {
		return answer{}, err
	}
	faults := []string{}
	for _, fault := range found {
		faults = append(faults, fault.Error())
	}
	return answer{Faults: faults}, nil
}

func main() {
	lines.Serve(judge, func(said *answer, err error) { said.Error = err.Error() })
}
