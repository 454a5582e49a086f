//go:build !(amd64 && linux)

package clock

import "time"

// UnixMilli returns the time of the system's clock in Unix milliseconds.
func UnixMilli() int64 { return time.Now().UnixMilli() }

// Pause does nothing, because a short pause needs an instruction that differs between processors.
func Pause() {}
