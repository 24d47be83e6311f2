// Command actionlint judges workflow files with actionlint's own rules: one JSON request a line in,
// one answer a line out. Other programs that actionlint would call are not.
//
//	{"file": "WORKFLOW"}
//	{"faults": ["WORKFLOW:1:2: what is wrong [rule]"]}   or   {"error": "why not"}
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/rhysd/actionlint"
)

type request struct {
	File string `json:"file"`
}

type answer struct {
	Faults []string `json:"faults"`
	Error  string   `json:"error,omitempty"`
}

func judge(file string) ([]string, error) {
	linter, err := actionlint.NewLinter(io.Discard, &actionlint.LinterOptions{})
	if err != nil {
		return nil, err
	}
	found, err := linter.LintFile(file, nil)
	if err != nil {
		return nil, err
	}
	faults := []string{}
	for _, fault := range found {
		faults = append(faults, fault.Error())
	}
	return faults, nil
}

func main() {
	lines, answers := bufio.NewScanner(os.Stdin), json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var asked request
		var said answer
		err := json.Unmarshal(lines.Bytes(), &asked)
		if err == nil {
			said.Faults, err = judge(asked.File)
		}
		if err != nil {
			said.Error = err.Error()
		}
		if err := answers.Encode(said); err != nil {
			fmt.Fprintln(os.Stderr, "error:", err)
			os.Exit(2)
		}
	}
	if err := lines.Err(); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(2)
	}
}
