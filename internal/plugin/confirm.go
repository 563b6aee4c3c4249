package plugin

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"
)

// errUnconfirmed and errDeclined end a command that wrote nothing, as nobody said yes.
var (
	errUnconfirmed = errors.New("nothing was written: stdin is not a terminal, so there is no confirmation; --yes writes without asking")
	errDeclined    = errors.New("nothing was written")
)

// confirm asks whether to write the change that was shown. The error says that nobody agreed.
func (s *cli) confirm() error {
	if !isTerminal(s.In) {
		return errUnconfirmed
	}
	_, _ = fmt.Fprint(s.ErrOut, "Write this? [y/N] ")
	answer, _ := bufio.NewReader(s.In).ReadString('\n') // no answer is none
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return errDeclined
}

// isTerminal reports whether a stream is a terminal.
func isTerminal(stream any) bool {
	file, is := stream.(*os.File)
	return is && term.IsTerminal(int(file.Fd()))
}
