// Package lines is how the tools beside it talk: one JSON request a line in, one JSON answer a line
// out, until the input ends.
package lines

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// Serve answers what stands in the standard input, and ends the process with 2 where it cannot.
// fail: puts an error into an answer; a request that fails ends nothing.
func Serve[Q, A any](answer func(Q) (A, error), fail func(*A, error)) {
	if err := serve(os.Stdin, os.Stdout, answer, fail); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(2)
	}
}

func serve[Q, A any](in io.Reader, out io.Writer, answer func(Q) (A, error), fail func(*A, error)) error {
	lines, answers := bufio.NewReader(in), json.NewEncoder(out)
	for {
		line, end := lines.ReadBytes('\n')
		if len(line) > 0 {
			var asked Q
			var said A
			err := json.Unmarshal(line, &asked)
			if err == nil {
				said, err = answer(asked)
			}
			if err != nil {
				fail(&said, err)
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
