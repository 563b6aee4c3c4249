package usedvalues

import (
	"strconv"
	"text/template/parse"
)

// call returns the result of a function other than include. The arguments of functions that are not handled here count
// as used.
func (e *execution) call(function string, command *parse.CommandNode, arguments []value) value {
	switch function {
	case "list", "tuple":
		return listOf(arguments)
	case "dict":
		return e.dict(command, arguments)
	case "deepCopy":
		if len(arguments) == 1 {
			return arguments[0]
		}
	case "first", "last":
		if len(arguments) == 1 {
			return arguments[0].element()
		}
	case "default", "coalesce", "required", "ternary", "and", "or":
		return e.oneOf(arguments)
	// they ask about a value, and read nothing below it
	case "not", "empty", "kindIs", "hasKey":
		for i, argument := range arguments {
			e.touch(argument)
			if name, _, known := constant(command, i+2); function == "hasKey" && known {
				e.touch(e.member(argument, []string{name}, command.Pos))
			}
		}
		return value{}
	case "index", "get":
		if len(arguments) == 2 {
			return e.index(command, arguments)
		}
	case "set":
		if len(arguments) > 0 {
			e.changed(command, arguments[0])
		}
	}
	for _, argument := range arguments {
		e.use(argument)
	}
	return value{}
}

// oneOf returns the last argument that is known. The other known ones count as used.
func (e *execution) oneOf(arguments []value) value {
	var result value
	for _, argument := range arguments {
		if argument.key() == (value{}).key() {
			continue
		}
		e.use(result)
		result = argument
	}
	e.touch(result)
	return result
}

func (e *execution) dict(command *parse.CommandNode, arguments []value) value {
	made := map[string]value{}
	for i := 1; i < len(arguments); i += 2 {
		name, _, known := constant(command, i)
		if !known {
			e.use(listOf(arguments))
			return value{}
		}
		made[name] = arguments[i]
	}
	return value{parts: made}
}

// index returns the part of the first argument that the second one selects, if that is a constant.
func (e *execution) index(command *parse.CommandNode, arguments []value) value {
	of := arguments[0]
	name, isNumber, known := constant(command, 2)
	_, made := of.parts[name]
	switch {
	case !known:
		e.use(listOf(arguments))
		return value{}
	case isNumber && !made:
		return of.element()
	}
	return e.member(of, []string{name}, command.Pos)
}

// changed makes a variable unknown after entries are set in it: they need not be declared.
func (e *execution) changed(command *parse.CommandNode, of value) {
	e.use(of)
	if len(command.Args) < 2 {
		return // a mistake: it would fail in each render
	}
	if variable, is := command.Args[1].(*parse.VariableNode); is && len(variable.Ident) == 1 {
		if names := e.variable(variable.Ident[0]); names != nil {
			names[variable.Ident[0]] = value{}
		}
	}
}

// constant returns the argument of a command at an index, if it is a string or a whole number.
func constant(command *parse.CommandNode, index int) (text string, isNumber, is bool) {
	if command == nil || index >= len(command.Args) {
		return "", false, false
	}
	switch argument := command.Args[index].(type) {
	case *parse.StringNode:
		return argument.Text, false, true
	case *parse.NumberNode:
		return strconv.FormatInt(argument.Int64, 10), true, argument.IsInt
	}
	return "", false, false
}
