package plugin

import (
	"fmt"
	"io"
	"os"
)

// Values of --color.
const (
	colorAuto   = "auto"
	colorAlways = "always"
	colorNever  = "never"
)

// style is an ANSI escape sequence for terminals, without its first character.
type style string

const (
	red    style = "[31m"
	green  style = "[32m"
	yellow style = "[33m"
	bold   style = "[1m"
	dim    style = "[2m"

	plain = "[0m"
)

func (s *cli) checkColor() error {
	switch s.color {
	case colorAuto, colorAlways, colorNever:
		return nil
	}
	return fmt.Errorf("--color=%s: it can be %s, %s or %s", s.color, colorAuto, colorAlways, colorNever)
}

// paint returns text in a style, or unchanged if colors are off for the output.
func (s *cli) paint(out io.Writer, look style, text string) string {
	if text == "" || !s.colored(out) {
		return text
	}
	return mark + string(look) + text + mark + plain
}

func (s *cli) colored(out io.Writer) bool {
	if s.color != colorAuto {
		return s.color == colorAlways
	}
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isTerminal(raw(out))
}
