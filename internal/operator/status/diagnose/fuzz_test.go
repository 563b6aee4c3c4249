package diagnose

import (
	"strings"
	"testing"
	"unicode/utf8"

	words "github.com/example/appservice-operator/internal/engine/text"
)

// FuzzLastWords: whatever a container said last, it becomes one short line, which stays as it is when it is shortened again, and holds none
// of the secrets that it is known to hold.
func FuzzLastWords(f *testing.F) {
	for _, text := range []string{
		"", "\n\n", "panic: no database\n\ngoroutine 1 [running]:\nmain.main()\n\t/app/main.go:7", "Error: connect postgres://app:canary@db/a: refused",
		"2026-01-02T03:04:05Z FATAL password=canary token: 'canary'", "Authorization: Bearer canary", `{"api_key":"canary"}`, "at a\nat b", strings.Repeat("ü", 4096),
		"\x1b[31mFATAL pass\x1b[0mword=\x1b[1mcanary\x1b[0m", "\x1b]8;;https://evil.example/\x1b\\click \x1b[2K\x1b[1A", "\xff\xfe\x00", "a\rb\u2028c", "E0102 03:04:05.678901   1 main.go:7] secret = \"canary\"",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := lastWords(text)
		if strings.ContainsAny(got, "\n\r") || strings.IndexFunc(got, words.IsControl) >= 0 || utf8.RuneCountInString(got) > maxDetail {
			t.Errorf("got %q", got)
		}
		if again := lastWords(text); again != got {
			t.Errorf("got %q, then %q", got, again)
		}
		for _, way := range []string{"password=", "DB_TOKEN: ", "Authorization: Bearer ", "postgres://app:"} {
			end := ""
			if strings.HasSuffix(way, "app:") {
				end = "@db/a"
			}
			if got := lastWords(text + "\n" + way + "canary" + end); strings.Contains(got, "canary") && !strings.Contains(text, "canary") {
				t.Errorf("%s: got %q", way, got)
			}
		}
	})
}
