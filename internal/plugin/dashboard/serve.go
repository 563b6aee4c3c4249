package dashboard

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"time"
)

//go:embed page
var files embed.FS

// Handler answers all requests.
func (s *Server) Handler() http.Handler {
	pages, _ := fs.Sub(files, "page") // the folder is there
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServerFS(pages))
	mux.HandleFunc("/rows", s.stream)
	mux.HandleFunc("/resource/{kind}/{namespace}/{name}", s.resource)
	mux.HandleFunc("/objects/{kind}/{namespace}/{name}", s.objects)
	mux.HandleFunc("/logs/{namespace}/{pod}/{container}", s.logs)
	return s.guard.of(mux)
}

// Serve answers requests until the context ends.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	server := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second,
		BaseContext: func(net.Listener) context.Context { return ctx }}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// heartbeat is how often a stream without changes says that it is there, so that one whose browser is gone ends.
const heartbeat = 30 * time.Second

// stream sends all rows, then each change, as server-sent events: "rows", "row", "gone" and "trouble".
func (s *Server) stream(w http.ResponseWriter, r *http.Request) {
	begin, changes, stop := s.rows.listen()
	defer stop()
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	begin.Scope = s.cluster.Scope
	for _, kind := range s.cluster.Kinds {
		begin.Kinds = append(begin.Kinds, kind.Kind)
	}
	ticker := time.NewTicker(heartbeat)
	defer ticker.Stop()
	for err := send(w, out, "rows", begin); err == nil; {
		select {
		case <-r.Context().Done():
			return
		case <-ticker.C:
			_, err = io.WriteString(w, ":\n\n")
			err = errors.Join(err, out.Flush())
		case c, open := <-changes:
			if !open {
				return // the browser connects again
			}
			err = send(w, out, c.event, c.data)
		}
	}
}

func send(w io.Writer, out *http.ResponseController, event string, data any) error {
	text, err := json.Marshal(data) // without line breaks
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event, text); err != nil {
		return err
	}
	return out.Flush()
}
