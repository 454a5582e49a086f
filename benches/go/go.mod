module flakeid.bench

go 1.22

require (
	github.com/bwmarrin/snowflake v0.3.0
	github.com/flakeid/flakeid/go v0.1.0
	github.com/sony/sonyflake v1.2.0
	github.com/sony/sonyflake/v2 v2.2.0
	github.com/yitter/idgenerator-go v1.3.3
)

replace github.com/flakeid/flakeid/go => ../../go
