package usedvalues

import (
	"text/template/parse"
)

// Templates are executed at most that often, and include each other at most so deep: one that includes itself with a
// part of its argument has no end here, where a value may have parts of any depth.
const (
	mostExecutions = 20_000
	mostDepth      = 64
)

// template executes a template once for each distinct argument.
func (a *analysis) template(name string, with value) {
	call := name + " " + with.key()
	tree := a.trees[name]
	if a.done[call] || tree == nil || tree.Root == nil {
		return
	}
	if len(a.done) >= mostExecutions || a.depth >= mostDepth {
		a.unseen[name] = true
		return
	}
	a.done[call] = true
	a.depth++
	defer func() { a.depth-- }()
	e := &execution{analysis: a, tree: tree, variables: &variables{names: map[string]value{"$": with}}}
	e.list(tree.Root, with)
}

// block executes a list of nodes in a new scope, whose first variables are added by set. A nil list is skipped.
func (e *execution) block(list *parse.ListNode, dot value, set func(names map[string]value)) {
	if list == nil {
		return
	}
	inner := *e
	inner.variables = &variables{map[string]value{}, e.variables}
	if set != nil {
		set(inner.variables.names)
	}
	inner.list(list, dot)
}

func (e *execution) list(list *parse.ListNode, dot value) {
	for _, one := range list.Nodes {
		switch one := one.(type) {
		case *parse.ActionNode:
			result := e.pipe(one.Pipe, dot)
			if len(one.Pipe.Decl) == 0 {
				e.use(result)
			}
		case *parse.IfNode:
			e.branch(&one.BranchNode, dot, func(value) value { return dot }, false)
		case *parse.WithNode:
			e.branch(&one.BranchNode, dot, func(given value) value { return given }, false)
		case *parse.RangeNode:
			e.branch(&one.BranchNode, dot, value.element, true)
		case *parse.TemplateNode:
			with := value{}
			if one.Pipe != nil {
				with = e.pipe(one.Pipe, dot)
			}
			e.template(one.Name, with)
		}
	}
}

// branch executes both branches. Within returns the dot of the first one.
func (e *execution) branch(branch *parse.BranchNode, dot value, within func(given value) value, loop bool) {
	inner := *e
	inner.variables = &variables{map[string]value{}, e.variables}
	given := inner.pipe(branch.Pipe, dot)
	e.touch(given)
	inner.block(branch.List, within(given), func(names map[string]value) {
		if decl := branch.Pipe.Decl; loop && len(decl) > 0 {
			names[decl[len(decl)-1].Ident[0]] = given.element()
			if len(decl) == 2 {
				names[decl[0].Ident[0]] = value{}
			}
		}
	})
	inner.block(branch.ElseList, dot, nil)
}

func (e *execution) pipe(pipe *parse.PipeNode, dot value) value {
	var result value
	for i, command := range pipe.Cmds {
		result = e.command(command, dot, result, i > 0)
	}
	for _, variable := range pipe.Decl {
		if pipe.IsAssign {
			e.assign(variable.Ident[0], result)
		} else {
			e.variables.names[variable.Ident[0]] = result
		}
	}
	return result
}

// assign sets a variable of this or an outer block. If the value differs, the variable becomes unknown, since it
// depends on the branch taken, and both values count as used.
func (e *execution) assign(name string, to value) {
	if names := e.variable(name); names != nil && names[name].key() != to.key() {
		e.use(names[name])
		e.use(to)
		names[name] = value{}
	}
}

func (e *execution) command(command *parse.CommandNode, dot, piped value, hasPiped bool) value {
	function, called := command.Args[0].(*parse.IdentifierNode)
	if !called {
		result := e.argument(command.Args[0], dot)
		for _, argument := range command.Args[1:] { // of a method
			e.use(e.argument(argument, dot))
		}
		return result
	}
	arguments := make([]value, 0, len(command.Args))
	for _, argument := range command.Args[1:] {
		arguments = append(arguments, e.argument(argument, dot))
	}
	if hasPiped {
		arguments = append(arguments, piped)
	}
	if name, _, known := constant(command, 1); function.Ident == "include" && known && len(arguments) == 2 {
		e.template(name, arguments[1])
		return value{}
	}
	return e.call(function.Ident, command, arguments)
}

func (e *execution) argument(argument parse.Node, dot value) value {
	switch argument := argument.(type) {
	case *parse.DotNode:
		return dot
	case *parse.FieldNode:
		return e.member(dot, argument.Ident, argument.Pos)
	case *parse.VariableNode:
		return e.member(e.variable(argument.Ident[0])[argument.Ident[0]], argument.Ident[1:], argument.Pos)
	case *parse.ChainNode:
		return e.member(e.argument(argument.Node, dot), argument.Field, argument.Pos)
	case *parse.PipeNode:
		return e.pipe(argument, dot)
	case *parse.IdentifierNode: // a function without arguments
		return e.call(argument.Ident, nil, nil)
	}
	return value{}
}
