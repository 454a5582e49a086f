module flakeid.test

go 1.19
