package processes

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// Detach starts a process that lives on when this one ends. Its output is added to the file log.
func Detach(command *exec.Cmd, log string) (*Child, error) {
	file, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	command.Stdout, command.Stderr = file, file
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return Start(command)
}

// EndOf introduces the last lines of a log, at most so many, for a message about the program that wrote it.
func EndOf(log string, lines int) string {
	content, err := end(log, 16<<10)
	if err != nil {
		return fmt.Sprintf("its log cannot be read: %v", err)
	}
	all := strings.Split(strings.TrimSpace(content), "\n")
	return fmt.Sprintf("the end of %s:\n%s", log, strings.Join(all[max(0, len(all)-lines):], "\n"))
}

// end reads a file from so many bytes before its end.
func end(path string, size int64) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	content, err := io.ReadAll(io.NewSectionReader(file, max(0, info.Size()-size), size))
	return string(content), err
}
