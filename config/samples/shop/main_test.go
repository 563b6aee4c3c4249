package main

import (
	"strings"
	"testing"
)

func TestSettingsThatAreWrongAreNamed(t *testing.T) {
	for _, test := range []struct{ currency, key, wrong string }{
		{"EUR", "k", ""}, {"EURO", "k", `CURRENCY is "EURO", and has to be three capital letters`}, {"EUR", "", "SECRET_KEY is missing"},
	} {
		set := map[string]string{"CURRENCY": test.currency, "SECRET_KEY": test.key}
		currency, err := settings(func(name string) string { return set[name] })
		if test.wrong == "" && (err != nil || currency != "EUR") || test.wrong != "" && (err == nil || err.Error() != test.wrong) {
			t.Errorf("%+v: got %q and error %v", test, currency, err)
		}
	}
}

func TestAReceiptTakesTheKey(t *testing.T) {
	first := receipt("a", 1)
	if receipt("a", 1) != first || receipt("b", 1) == first || receipt("a", 2) == first {
		t.Error("a receipt is not of its key and number alone")
	}
}

func TestCommandsAreKnown(t *testing.T) {
	if err := run([]string{"sell"}); err == nil || !strings.Contains(err.Error(), `"sell"`) {
		t.Errorf("got error %v", err)
	}
}
