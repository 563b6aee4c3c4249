// Command subject is the program in the containers of recorded pods: it serves, crashes, uses up memory, or is a
// registry that refuses images in the ways that registries do. Its image needs no other file, and is called
// example.com/subject:1.
package main

import (
	"fmt"
	"net/http"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
)

func main() {
	if len(os.Args) < 2 {
		os.Args = append(os.Args, "serve")
	}
	switch os.Args[1] {
	case "serve": // [STATUS]
		serve()
	case "end": // CODE [WORDS...]
		code, _ := strconv.Atoi(os.Args[2])
		fmt.Println("reading the configuration")
		if words := strings.Join(os.Args[3:], " "); words != "" {
			fmt.Println(time.Now().UTC().Format(time.RFC3339), words)
		}
		os.Exit(code)
	case "panic":
		panic("no database")
	case "eat":
		debug.SetGCPercent(-1)
		for held := [][]byte{}; ; {
			held = append(held, make([]byte, 1<<20))
			for i := range held[len(held)-1] {
				held[len(held)-1][i] = 1
			}
		}
	case "registry":
		listen("127.0.0.1:5000", http.HandlerFunc(registry))
	default:
		fmt.Fprintf(os.Stderr, "cannot do %q\n", os.Args[1])
		os.Exit(2)
	}
}

func serve() {
	status := http.StatusOK
	if len(os.Args) > 2 {
		status, _ = strconv.Atoi(os.Args[2])
	}
	listen(":8080", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			time.Sleep(time.Minute) // this is what it is asked for
		}
		w.WriteHeader(status)
	}))
}

func listen(address string, handler http.Handler) {
	server := &http.Server{Addr: address, Handler: handler, ReadHeaderTimeout: time.Minute}
	fmt.Fprintln(os.Stderr, server.ListenAndServe())
	os.Exit(1)
}

// registry answers for repositories as registries do that refuse an image.
func registry(w http.ResponseWriter, r *http.Request) {
	answer := func(status int, code string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, `{"errors":[{"code":%q,"message":"%s"}]}`, code, strings.ToLower(strings.ReplaceAll(code, "_", " ")))
	}
	path := strings.TrimPrefix(r.URL.Path, "/v2")
	switch {
	case path == "/", path == "":
		w.WriteHeader(http.StatusOK)
	case r.URL.Path == "/token":
		_, _ = fmt.Fprint(w, `{"token":"anonymous"}`)
	case strings.HasPrefix(path, "/private/"):
		w.Header().Set("WWW-Authenticate", `Basic realm="registry"`)
		answer(http.StatusUnauthorized, "UNAUTHORIZED")
	case strings.HasPrefix(path, "/denied/"):
		challenge := `Bearer realm="http://127.0.0.1:5000/token",service="registry",scope="repository:denied/app:pull"`
		if r.Header.Get("Authorization") != "" {
			challenge += `,error="insufficient_scope"`
		}
		w.Header().Set("WWW-Authenticate", challenge)
		answer(http.StatusUnauthorized, "UNAUTHORIZED")
	case strings.HasPrefix(path, "/busy/"):
		answer(http.StatusTooManyRequests, "TOOMANYREQUESTS")
	default:
		answer(http.StatusNotFound, "MANIFEST_UNKNOWN")
	}
}
