module github.com/example/appservice-operator/test/dashboard

go 1.26.0

replace github.com/example/appservice-operator => ../..

require github.com/example/appservice-operator v0.0.0
