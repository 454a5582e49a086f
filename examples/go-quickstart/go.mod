module flakeid.example/quickstart

go 1.21

require github.com/flakeid/flakeid/go v0.1.0

// The module is not published yet, so this is the module of the checkout.
replace github.com/flakeid/flakeid/go => ../../go
