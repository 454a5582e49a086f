module github.com/flakeid/flakeid/tests/rivals/go

go 1.21

require (
	github.com/bwmarrin/snowflake v0.3.0
	github.com/sony/sonyflake v1.2.0
	github.com/yitter/idgenerator-go v1.3.3
)
