// Program web is the application of the end-to-end test: a web server that misbehaves on demand.
//
// It answers every path, /healthz among them, on the port in PORT, or 8080. The environment says what else it does:
//
//	MODE=crash  says that it cannot start and exits with code 3
//	MODE=once   serves nothing and ends at once
//	MODE=hog    takes memory until it is stopped
//	DELAY=2s    takes that long for each answer
//	KEEP=FILE   answers with what FILE holds, behind the name of its host; the first to find no FILE writes its own time of start there.
//	            Of several files, FILE:FILE, what they hold is joined by commas
//	START=2s    takes that long until it listens
//	VISIT=URL   answers with an error unless that URL answers with 200
//
// With arguments it is a task: "wait 20s" succeeds after that time, anything else fails.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) > 1 {
		os.Exit(task(os.Args[1:]))
	}
	switch os.Getenv("MODE") {
	case "crash":
		fmt.Fprintln(os.Stderr, "cannot reach the database: giving up")
		os.Exit(3)
	case "once":
		fmt.Println("done")
		return
	case "hog":
		hog()
	}
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, "web:", err)
		os.Exit(1)
	}
}

// task does the work of a release task, and returns the exit code.
func task(args []string) int {
	if args[0] == "wait" && len(args) == 2 {
		duration, err := time.ParseDuration(args[1])
		if err == nil {
			time.Sleep(duration)
			return 0
		}
	}
	fmt.Fprintln(os.Stderr, "ERROR: no such column")
	return 3
}

// serve answers requests until the program has to end, and then those that it has already.
func serve() error {
	delay, err := time.ParseDuration(cmp.Or(os.Getenv("DELAY"), "0s"))
	if err != nil {
		return err
	}
	start, err := time.ParseDuration(cmp.Or(os.Getenv("START"), "0s"))
	if err != nil {
		return err
	}
	server := &http.Server{Addr: ":" + cmp.Or(os.Getenv("PORT"), "8080"), ReadHeaderTimeout: 10 * time.Second}
	url := os.Getenv("VISIT")
	answer, err := kept(os.Getenv("KEEP"))
	if err != nil {
		return err
	}
	server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := visit(r.Context(), url); err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		select {
		case <-time.After(delay):
			_, _ = fmt.Fprintln(w, answer)
		case <-r.Context().Done():
		}
	})
	ended, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	failed := make(chan error, 1)
	go func() {
		<-time.After(start)
		failed <- server.ListenAndServe()
	}()
	select {
	case err := <-failed:
		return err
	case <-ended.Done():
		return server.Shutdown(context.Background())
	}
}

// kept returns what to answer: what files hold, each of which is written unless it is there.
func kept(files string) (string, error) {
	if files == "" {
		return "ok", nil
	}
	host, err := os.Hostname()
	if err != nil {
		return "", err
	}
	var texts []string
	for _, file := range filepath.SplitList(files) {
		text, err := os.ReadFile(file)
		if errors.Is(err, os.ErrNotExist) {
			text = []byte(host + "@" + time.Now().Format(time.RFC3339Nano))
			err = os.WriteFile(file, text, 0o600)
		}
		if err != nil {
			return "", err
		}
		texts = append(texts, string(text))
	}
	return host + " " + strings.Join(texts, ","), nil
}

// visit asks for a page, unless there is nothing to ask.
func visit(ctx context.Context, url string) error {
	if url == "" {
		return nil
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	return nil
}

// hog allocates 1 MiB after the other and touches each page, or the system would not back it.
func hog() {
	const mebibyte, page = 1 << 20, 4096
	for taken := [][]byte{}; ; {
		block := make([]byte, mebibyte)
		for at := 0; at < len(block); at += page {
			block[at] = 1
		}
		taken = append(taken, block)
	}
}
