module flakeid.example

go 1.19

require github.com/flakeid/flakeid/go v0.1.0

// Nothing is published yet: the module is that of the checkout.
replace github.com/flakeid/flakeid/go => ../../go
