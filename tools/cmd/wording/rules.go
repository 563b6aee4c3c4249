package main

import (
	"regexp"
	"strings"
)

// A rule is a way to say something that is hard to read, or no English. A space in a pattern is any white space. With
// unless, a place is allowed if that matches the text around it. The remedy says what to write instead.
type rule struct{ pattern, unless, remedy string }

var rules = []rule{
	{`\bWhat \w+`, `What[^.!|]*\?|What (?:happens|if|to|returns)\b`, "name the thing: the fields that ..., objects that ..."},
	{`\b(?:\w*[nN]ames?|[kK]inds?|[tT]ypes?|[sS]tates?|[pP]aths?|[tT]ree|[pP]art|nothing|much|most|rest|one|copy|list|each) of what\b`, ``,
		"name the thing: of the objects that ..., of the field that ..."},
	{`\bwhat (?:runs|ran)\b`, ``, "the running pods, the recorded release, the command"},
	{`\bwhat (?:is|was|were) (?:rendered|recorded|released|deployed|written)\b`, ``, "the rendered objects, the rendered spec, ..."},
	{`\b(?:[cC]hanges?|[cC]orrect|mend|adopts?|deletes?) what\b`, ``, "name the object or field"},
	{`\b[oO]f (?:which|whom)\b`, `(?:one|[Ee]ach|some|most|all|none|both|part|any|two|many|first|last) of which`, "whose, or two sentences"},
	{`\bWho [a-z]+`, `Who[^.!|]*\?`, "users who ..., a program that ..."},
	{`\bOf [a-z][^.,|]{0,60}, (?:only|one|the|those|each|none|no|some|both|it|what|an?|where|of|that|some)\b`, ``, "the subject first: only the newest of ..."},
	{`\b[lL]et(?:s|ting)? (?:\w+ )?in\b`, ``, "allow, accept, admit"},
	{`\bfor good\b`, ``, "permanently, for ever, finally"},
	{`\bby (?:it|them)sel(?:f|ves)\b`, `\b(?:end|ends|ended|exits?) by`, "automatically, or alone"},
	{`\b(?:is|are|was|were) to [a-z]+`, `\b(?:next|step|way|goal|purpose|aim) (?:is|are|was|were) to|to blame\b`, "must, should, will"},
	{`\bput(?:s|ting)? back\b`, ``, "restore, revert"},
	{`\bt(?:aken?|akes|ook) off\b`, ``, "remove"},
	{`\b(?:has|have|had) lived\b`, ``, "expired, or has existed for"},
	{`\b(?:the|its|their|of|many|few|more|several|all) tries\b`, ``, "attempts"},
	{`\bwants\b`, `(?:who|user|tenant|vector|he|team|person|everyone) wants`, "requires, needs, requests"},
	{`\b(?:[sS]pec|[rR]esource|[cC]hart|[fF]ield|[aA]nnotation|environment|owner|load) (?:ask|asks|asked)\b`, ``, "request, require"},
	{`\bthat there (?:is|are)\b`, `that there (?:is|are) (?:no|none|nothing|not|always|also|enough|time)\b`, "that exists"},
	{`\b(?:that|which|what|who) (?:is|are|was|were) (?:already )?there\b`, ``, "that exists, existing, present"},
	{`\b(?:which|what) there (?:is|are)\b`, ``, "that exists"},
	{`\b(?:[nN]o|[nN]one|[nN]othing|[nN]obody|[aA]ll|[aA]nything|[eE]verything|[nN]o \w+) but\b`, ``, "only, except"},
	{`\b[bB]ut for\b`, ``, "except for"},
	{`\bno more[.,;:)]`, ``, "no longer"},
	{`\b(?:is|are|was|were|be) said\b`, ``, "stated, reported, shown"},
	{`\b(?:[sS]ome|[aA]ny)body\b`, ``, "someone, anyone; or who"},
	{`\b(?:go|goes|went|going) on\b`, `on (?:its|their) own`, "continue"},
	{`\bin silence\b`, ``, "silently"},
	{`\bbesides[.,;:)]`, ``, "also, in addition"},
	{`\b(?:says|tells) whether\b`, ``, "reports whether"},
	{`\banew\b`, ``, "again"},
	{`\b(?:[nN]o|[nN]othing|[nN]obody) (?:\w+ ){1,3}that (?:\w+ ){1,2}(?:not|no|never)\b`, `(?:says?|means?|shows?) that`, "say it without the double negation"},
	{`\bnot un\w+ed\b|\b(?:never|not) without\b`, ``, "say it without the double negation"},
}

// compile compiles a pattern once.
func compile(pattern string) *regexp.Regexp {
	if compiled[pattern] == nil {
		compiled[pattern] = regexp.MustCompile(strings.ReplaceAll(pattern, " ", `\s+`))
	}
	return compiled[pattern]
}

var compiled = map[string]*regexp.Regexp{}
