package readywhen

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
)

func TestWhatNothingBoundsIsRefused(t *testing.T) {
	cases := map[string]struct{ expression, want string }{
		"text that replaces each letter of another":  {`self.a.replace("a", self.a) == ""`, "column 15: the function replace cannot be used"},
		"text that is joined":                        {`self.a.join(self.b) == ""`, "the function join cannot be used"},
		"text that is made of a pattern":             {`self.a.format([self.b]) == ""`, "the function format cannot be used"},
		"a list that is split off a text":            {`self.a.split("").size() == 1`, "the function split cannot be used"},
		"a list of lists that becomes one":           {`self.a.flatten() == []`, "the function flatten cannot be used"},
		"numbers of a range":                         {`lists.range(1000000).size() > 1`, "the function range cannot be used"},
		"a quantity, which has a billion digits":     {`quantity(self.a).isGreaterThan(quantity("1e999999999"))`, "the function isGreaterThan cannot be used"},
		"a list that repeats what it is made of":     {`[1].map(a, [a, a]) == []`, "column 12: a list may hold constants only"},
		"a list of the object":                       {`self.a.map(b, self) == []`, "a list may hold constants only"},
		"a list of another variable":                 {`self.a.all(b, self.c.map(d, b) == [])`, "a list may hold constants only"},
		"a list of fields":                           {`[self.a, self.b].all(c, c)`, "column 6: a list may hold constants only"},
		"a map of fields":                            {`{"a": self.a} == {}`, "a map may hold constants only"},
		"a map with keys of fields":                  {`{self.a: 1} == {}`, "a map may hold constants only"},
		"a map that a list becomes":                  {`self.a.transformMap(k, v, self) == {}`, "cannot be used"},
		"a list that a list becomes":                 {`self.a.transformList(k, v, self) == []`, "a list may hold constants only"},
		"a value with a name, that is used twice":    {`self.?a.optMap(b, b == b).value()`, "cannot be used"},
		"a list that is sorted":                      {`self.a.sortBy(b, b) == []`, "cannot be used"},
		"a type that is not JSON":                    {`google.protobuf.Int64Value{value: 1} == 1`, "google.protobuf.Int64Value cannot be made here"},
		"a pattern of the object":                    {`self.a.matches(self.b)`, "column 20: a regular expression must be a constant"},
		"a pattern that is not a string":             {`self.a.matches(1)`, "a regular expression must be a constant"},
		"a pattern that repeats much":                {`self.a.matches("(a{100}){10}\\pL{1000}")`, "the regular expression is too large"},
		"many patterns":                              {`self.a.matches("a{400}") || self.a.matches("b{400}")`, "the regular expression is too large"},
		"a pattern that does not parse":              {`self.a.matches("(")`, "missing closing )"},
		"a pattern, in a call":                       {`matches(self.a, self.b)`, "a regular expression must be a constant"},
		"a pattern of nothing":                       {`matches()`, "found no matching overload for 'matches'"},
		"a function of no library":                   {`self.a.now() > 1`, "the function now cannot be used"},
		"another variable":                           {`object.a == 1`, "column 1: undeclared reference to 'object'"},
		"a function that is refused, within another": {`!(self.a[self.b.join()] == 1 || true)`, "the function join cannot be used"},
		"a function that is refused, in a filter":    {`self.a.filter(b, b.join() == "").size() == 1`, "the function join cannot be used"},
		"a byte too many":                            {`true` + strings.Repeat(" ", MaxExpression-3), "has 1025 bytes, at most 1024 are allowed"},
		"parentheses without end":                    {strings.Repeat("(", 500) + "1" + strings.Repeat(")", 500), "recursion"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := Expression(v1.AnnotationReadyWhen, tc.expression)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestWhatIsBoundedMayBeUsed(t *testing.T) {
	for name, expression := range map[string]string{
		"a list of constants":         `self.a in ["a", "b"] || self.b in [1, 2]`,
		"a map of constants":          `{"a": 1, "b": 2}[self.a] == 1`,
		"filters in filters":          `self.a.filter(b, b.c.exists(d, d == 1)).size() > 0`,
		"an item, wrapped":            `self.a.exists(b, [b] == self.c)`,
		"texts":                       `self.a.lowerAscii().trim().startsWith("x") && self.a.size() > 3 && "b" + string(self.c) == "b1"`,
		"optional values":             `self.?a.?b[?0].orValue("") == "" && self.?a.hasValue()`,
		"times":                       `timestamp(self.a) + duration("1h") < timestamp(self.b) && timestamp(self.a).getFullYear() > 2000`,
		"one of each":                 `self.a.exists_one(b, b > 1) && self.a.all(i, b, i > 1 && b > 1)`,
		"a pattern that repeats some": `self.a.matches("^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$")`,
		"a condition":                 `self.a > 1 ? self.b == 1 : self.c % 2 == -1`,
	} {
		if err := Expression(v1.AnnotationReadyWhen, expression); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAnEvaluationThatCostsTooMuchEnds: the largest objects that caches keep whole have 32 KiB.
func TestAnEvaluationThatCostsTooMuchEnds(t *testing.T) {
	var numbers, texts []any
	for i := range 1000 {
		numbers = append(numbers, int64(i))
	}
	for range 10 {
		texts = append(texts, strings.Repeat("a", 3000))
	}
	long := `self.texts.all(a, self.texts.all(b, self.texts.all(c, a` + strings.Repeat(" + b + c", 50) + ` != "")))`
	cases := map[string]struct {
		expression string
		ends       bool
	}{
		"each number once":                 {`self.numbers.all(a, a < 2000)`, false},
		"each number with each":            {`self.numbers.all(a, self.numbers.all(b, a != b || a == b))`, true},
		"each number with the object":      {`self.numbers.all(a, self == self)`, true},
		"each number, in a list of all":    {`self.numbers.all(a, self.numbers in self.nested)`, true},
		"each number, the place of all":    {`self.numbers.all(a, self.nested.indexOf(self.nested[0]) == 0)`, true},
		"the object once":                  {`self == self`, false},
		"text that is made again":          {long, true},
		"each number, in a filter":         {`self.numbers.filter(a, a > 10).size() > 10`, false},
		"each number, in two filters":      {`self.numbers.filter(a, a > 10).size() + self.numbers.filter(a, a > 20).size() > 10`, true},
		"each number, in a long list":      {`self.numbers.all(a, a in self.numbers)`, true},
		"each number, with a long pattern": {`self.numbers.all(a, self.texts[0].matches("b?b?b?b?b?b?b?b?b?b?a*"))`, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			object := &unstructured.Unstructured{Object: map[string]any{"numbers": numbers, "texts": texts, "nested": []any{numbers}}}
			object.SetAnnotations(map[string]string{v1.AnnotationReadyWhen: tc.expression})
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			got, _ := Of(object)
			runtime.ReadMemStats(&after)
			if ended := strings.HasSuffix(got.Message, "too expensive: use fewer fields or items"); ended != tc.ends || ended != got.Fault {
				t.Errorf("got %+v, want that it ends: %t", got, tc.ends)
			}
			if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 64 {
				t.Errorf("it took %d MiB", took)
			}
		})
	}
}

func TestWhatIsKeptCompiledIsBounded(t *testing.T) {
	for i := range 2 * cacheSize {
		require.NoError(t, Expression(v1.AnnotationReadyWhen, fmt.Sprintf("self.a == %d", i)))
	}
	if got := programs.entries.Len(); got != cacheSize {
		t.Errorf("%d expressions are kept, want %d", got, cacheSize)
	}
	first, _ := programs.of("self.a == 1")
	if again, _ := programs.of("self.a == 1"); again != first {
		t.Error("it was compiled twice in a row")
	}
}
