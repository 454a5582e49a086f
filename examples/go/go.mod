module flakeid.example

go 1.19
