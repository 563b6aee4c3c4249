package main

import (
	"encoding/xml"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const demo = `
==> 1/3 Before
$ kubectl version
    done in 0s

==> 2/3 Break it: see
A typo.
$ kubectl get appservice web --namespace=appservice-demo
NAME   READY
web    False
$ kubectl get pods --namespace=appservice-demo
POD    IMAGE
web-1  <none>
Put right:
$ kubectl apply
    done in 4s

==> 3/3 After
`

func TestAStepIsFound(t *testing.T) {
	got, err := step(demo, "Break it")
	require.NoError(t, err)
	assert.Equal(t, []string{"A typo.", "$ kubectl get appservice web", "NAME   READY", "web    False", "Put right:", "$ kubectl apply"}, got)
	for _, title := range []string{"Repair it", "After"} {
		_, err = step(demo, title)
		assert.ErrorContains(t, err, title)
	}
}

func TestThePictureIsXMLAndHasEachLine(t *testing.T) {
	long := strings.Repeat("word ", 40) + "<end> & more"
	text := picture([]string{"$ one", long, strings.Repeat("x", 2*columns+1)})
	var shown strings.Builder
	for decoder := xml.NewDecoder(strings.NewReader(text)); ; {
		token, err := decoder.Token()
		if err != nil {
			assert.EqualError(t, err, "EOF")
			break
		}
		if chars, is := token.(xml.CharData); is {
			shown.WriteString(string(chars))
		}
	}
	flat := strings.Join(strings.Fields(shown.String()), " ")
	assert.Contains(t, flat, "$ one "+long)
	assert.Equal(t, 7, strings.Count(text, "<text"), "lines: one, three and three")
}

func TestLongLinesAreCutAtSpaces(t *testing.T) {
	for _, part := range wrapped(strings.Repeat("word ", 60)) {
		assert.LessOrEqual(t, len(part), columns)
		assert.NotContains(t, strings.Fields(part), "wor")
	}
}
