package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestFiguresOfRoundsAreMedians(t *testing.T) {
	round := func(date string, install, image float64) *Results {
		contender := func(letter string, install, image float64) *Result {
			return &Result{Letter: letter, Phases: []*Phase{{Name: "install", PerSecond: install}, {Name: "image", PerSecond: image}}}
		}
		return &Results{Date: date, Contenders: []*Result{contender("b", 10, 10), contender("e", install, image)}}
	}
	got := together([]*Results{round("first", 9, 5), round("second", 7, 8), round("third", 8, 6)})
	assert.Equal(t, "third", got.Date, "the round whose image change is the median")
	assert.Equal(t, 3, got.Rounds)
	measured := map[string]string{}
	for _, f := range got.Figures {
		measured[f.Name] = f.measured()
	}
	assert.Equal(t, "0.80 × (0.70–0.90)", measured["install, against (b)"])
	assert.Equal(t, "0.60 × (0.50–0.80)", measured[imageChange])
	assert.Equal(t, "–", measured["install, against (c)"])

	one := together([]*Results{round("only", 9, 5)})
	assert.Equal(t, "0.90 ×", one.Figures[2].measured())
}
