package render

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatIsPackedComesBack(t *testing.T) {
	renderer := shipped(t)
	for _, name := range caseNames(t) {
		t.Run(name, func(t *testing.T) {
			want := rendered(t, renderer, golden(t, name))
			packed, err := want.Pack()
			require.NoError(t, err)
			for range 2 { // what came back may be changed
				got, err := packed.Unpack()
				require.NoError(t, err)
				if a, b := asJSON(t, got.Values), asJSON(t, want.Values); a != b {
					t.Errorf("got the values %s\nwant %s", a, b)
				}
				got.Values = want.Values // whose numbers may have another type
				if !reflect.DeepEqual(got, want) {
					t.Errorf("got %s\nwant %s", got.Manifest(), want.Manifest())
				}
				got.Objects[0].Object["kind"] = "Other"
			}
		})
	}
}
