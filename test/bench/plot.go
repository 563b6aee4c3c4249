package main

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// The plots are SVG, written as text: a few rectangles and lines need no library.

const (
	plotWidth  = 880
	plotHeight = 300
	plotLeft   = 60
	plotRight  = 20
	plotTop    = 50
	plotBottom = 40
)

var colors = map[string]string{"a": "#9e9e9e", "b": "#4f86c6", "c": "#e0a030", "d": "#c05040", "e": "#2e8b57"}

// canvas is a plot in progress.
type canvas struct {
	strings.Builder
	highest float64
}

func newCanvas(title, unit string, highest float64) *canvas {
	c := &canvas{highest: nice(highest)}
	fmt.Fprintf(c, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", plotWidth, plotHeight)
	fmt.Fprintf(c, `<rect width="%d" height="%d" fill="white"/>`+"\n", plotWidth, plotHeight)
	c.text(plotLeft, 18, "start", title+" ("+unit+")")
	for i := range 5 {
		value := c.highest * float64(i) / 4
		y := c.y(value)
		fmt.Fprintf(c, `<line x1="%d" y1="%.1f" x2="%d" y2="%.1f" stroke="#ddd"/>`+"\n", plotLeft, y, plotWidth-plotRight, y)
		c.text(plotLeft-6, y+4, "end", short(value))
	}
	return c
}

// nice rounds up to a number that divides well.
func nice(value float64) float64 {
	if value <= 0 {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(value)))
	for _, step := range []float64{1, 2, 4, 5, 8, 10} {
		if value <= step*power {
			return step * power
		}
	}
	return value
}

func (c *canvas) y(value float64) float64 {
	return plotHeight - plotBottom - value/c.highest*(plotHeight-plotTop-plotBottom)
}

func (c *canvas) text(x, y float64, anchor, text string) {
	fmt.Fprintf(c, `<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`+"\n", x, y, anchor, html.EscapeString(text))
}

func (c *canvas) legend(contenders []*Result) {
	x := float64(plotLeft)
	for _, r := range contenders {
		fmt.Fprintf(c, `<rect x="%.1f" y="28" width="10" height="10" fill="%s"/>`+"\n", x, colors[r.Letter])
		label := "(" + r.Letter + ") " + r.Title
		c.text(x+14, 37, "start", label)
		x += 22 + 6.4*float64(len(label))
	}
}

func (c *canvas) done() string { return c.String() + "</svg>\n" }

// bars draws a group of bars for each name, with a bar for each contender that has a value.
func bars(title, unit string, contenders []*Result, names []string, value func(*Result, string) (float64, bool)) string {
	highest := 0.0
	for _, r := range contenders {
		for _, name := range names {
			if v, ok := value(r, name); ok {
				highest = max(highest, v)
			}
		}
	}
	c := newCanvas(title, unit, highest)
	c.legend(contenders)
	group := float64(plotWidth-plotLeft-plotRight) / float64(len(names))
	width := group * 0.8 / float64(len(contenders))
	for i, name := range names {
		left := plotLeft + group*(float64(i)+0.1)
		c.text(left+group*0.4, plotHeight-plotBottom+18, "middle", name)
		for j, r := range contenders {
			v, ok := value(r, name)
			if !ok {
				continue
			}
			x, y := left+width*float64(j), c.y(v)
			fmt.Fprintf(c, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`+"\n",
				x, y, width*0.9, plotHeight-plotBottom-y, colors[r.Letter])
			c.text(x+width*0.45, y-3, "middle", short(v))
		}
	}
	return c.done()
}

// curves draws how many AppServices were as desired over time in a phase. Time is logarithmic: contenders differ much.
func curves(title string, contenders []*Result, phase string, n int) string {
	longest := 1.0
	for _, r := range contenders {
		if p := r.phase(phase); p != nil {
			longest = max(longest, p.Seconds)
		}
	}
	c := newCanvas(title, "AppServices over seconds, logarithmic", float64(n))
	c.legend(contenders)
	const first = 0.1
	decades := math.Log10(longest / first)
	x := func(seconds float64) float64 {
		return plotLeft + math.Log10(max(seconds, first)/first)/decades*(plotWidth-plotLeft-plotRight)
	}
	for tick := first; tick <= longest; tick *= 10 {
		c.text(x(tick), plotHeight-plotBottom+18, "middle", short(tick)+" s")
	}
	for _, r := range contenders {
		p := r.phase(phase)
		if p == nil {
			continue
		}
		var points []string
		for _, point := range p.Curve {
			points = append(points, fmt.Sprintf("%.1f,%.1f", x(point.Seconds), c.y(float64(point.Count))))
		}
		fmt.Fprintf(c, `<polyline fill="none" stroke="%s" stroke-width="2" points="%s"/>`+"\n", colors[r.Letter], strings.Join(points, " "))
	}
	return c.done()
}
