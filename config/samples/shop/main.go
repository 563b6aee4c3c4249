// Command shop is the application of docs/tutorial.md: a small web service with a database. Its settings are in the
// environment.
//
//	shop serve      serves requests on PORT
//	shop migrate    brings the schema of the database up to date; it may run again and again
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"log"
	"net/http"
	"os"
	"regexp"
	"time"

	_ "github.com/lib/pq" // PostgreSQL
)

// schema only adds, so that the version before can work with it, too.
const schema = `CREATE TABLE IF NOT EXISTS orders (id BIGSERIAL PRIMARY KEY, placed TIMESTAMPTZ NOT NULL DEFAULT now());
ALTER TABLE orders ADD COLUMN IF NOT EXISTS currency TEXT NOT NULL DEFAULT 'EUR';`

func main() {
	log.SetFlags(0)
	if err := run(os.Args[1:]); err != nil {
		log.Fatalf("shop: %v", err)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("usage: shop serve, or shop migrate")
	}
	db, err := sql.Open("postgres", os.Getenv("DATABASE_URL"))
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	switch args[0] {
	case "migrate":
		_, err := db.Exec(schema)
		return err
	case "serve":
		return serve(db)
	}
	return fmt.Errorf("there is no command %q", args[0])
}

func serve(db *sql.DB) error {
	currency, err := settings(os.Getenv)
	if err != nil {
		return err
	}
	http.HandleFunc("/healthz", func(w http.ResponseWriter, r *http.Request) {
		if err := db.PingContext(r.Context()); err != nil {
			http.Error(w, "the database does not answer", http.StatusServiceUnavailable)
		}
	})
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		var id int64
		err := db.QueryRowContext(r.Context(), "INSERT INTO orders (currency) VALUES ($1) RETURNING id", currency).Scan(&id)
		if err != nil {
			http.Error(w, "no order was placed", http.StatusInternalServerError)
			return
		}
		_, _ = fmt.Fprintf(w, "order %d in %s, receipt %s\n", id, currency, receipt(os.Getenv("SECRET_KEY"), id))
	})
	server := &http.Server{Addr: ":" + os.Getenv("PORT"), ReadHeaderTimeout: 10 * time.Second}
	return server.ListenAndServe()
}

// settings returns the currency. The error names the setting that is wrong.
func settings(get func(name string) string) (currency string, err error) {
	currency = get("CURRENCY")
	if !regexp.MustCompile(`^[A-Z]{3}$`).MatchString(currency) {
		return "", fmt.Errorf("CURRENCY is %q, and has to be three capital letters", currency)
	}
	if get("SECRET_KEY") == "" {
		return "", fmt.Errorf("SECRET_KEY is missing")
	}
	return currency, nil
}

// receipt is what only who knows the key can make of the number of an order.
func receipt(key string, id int64) string {
	mac := hmac.New(sha256.New, []byte(key))
	_, _ = fmt.Fprint(mac, id)
	return hex.EncodeToString(mac.Sum(nil)[:8])
}
