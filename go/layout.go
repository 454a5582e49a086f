package flakeid

import "time"

// Layout defines the meaning of the bits of an ID. The zero Layout is the default, Twitter's.
type Layout struct{ descriptor string }

// ParseLayout reads the name of a preset, such as "sonyflake", or a descriptor, such as
// "t41.n10.s12@1288834974657/1ms". It returns ErrInvalidLayout for any other string.
func ParseLayout(text string) (Layout, error) {
	text = withoutNul(text)
	descriptor, err := descriptorOf(&text)
	return Layout{descriptor}, err
}

// MustParseLayout is like ParseLayout, but panics instead of returning an error. Use it for constant layouts.
func MustParseLayout(text string) Layout {
	layout, err := ParseLayout(text)
	if err != nil {
		panic(err)
	}
	return layout
}

// Presets returns the names of all presets.
func Presets() []string { return presetNames() }

// text returns the layout for the library, in which nil means the default.
func (l Layout) text() *string {
	if l.descriptor == "" {
		return nil
	}
	return &l.descriptor
}

// String returns the layout's canonical descriptor.
func (l Layout) String() string {
	if l.descriptor != "" {
		return l.descriptor
	}
	return certain(descriptorOf(nil))
}

// MarshalText writes the canonical descriptor.
func (l Layout) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads a layout like ParseLayout, for flags and configuration files.
func (l *Layout) UnmarshalText(text []byte) error {
	read, err := ParseLayout(string(text))
	if err == nil {
		*l = read
	}
	return err
}

// LayoutInfo holds the properties of a layout.
type LayoutInfo struct {
	// Width is the number of bits that the layout uses, up to 64.
	Width int
	// Epoch is the start of tick 0, and Unit is the length of a tick.
	Epoch time.Time
	Unit  time.Duration
	// The largest value of each field, or 0 if the layout does not have the field.
	MaxTick, MaxNode, MaxDatacenter, MaxWorker, MaxClockSequence, MaxSequence uint64
	// IDsPerTick and IDsPerSecond are the maximum rates of one node.
	IDsPerTick   uint64
	IDsPerSecond float64
	// Horizon is the time at which the layout's ticks end, and FitsInt64Until the time until which IDs are positive as
	// an int64. Both are exclusive.
	Horizon, FitsInt64Until time.Time
	// IsSplit reports whether the node consists of a datacenter and a worker.
	IsSplit bool
	// CanGenerate reports whether generators can use the layout. Otherwise the layout can only decode IDs.
	CanGenerate bool
	// FitsFloat64 reports whether a float64, and so a JavaScript number, represents every ID exactly.
	FitsFloat64 bool
}

// Info returns the properties of the layout.
func (l Layout) Info() LayoutInfo { return certain(layoutInfoOf(l.text())) }

// Parts holds the fields of an ID.
type Parts struct {
	// Tick is the number of whole units of time since the layout's epoch.
	Tick uint64
	// Time is the start of the ID's tick. If it is zero, Layout.Pack computes it from Tick.
	Time time.Time
	// Node is the whole machine field. Datacenter and Worker are its two parts if the layout splits the node.
	Node, Datacenter, Worker uint64
	IsSplit                  bool
	ClockSequence, Sequence  uint64
}

// Decode returns the parts of an ID. It returns ErrInvalidID if the ID has bits that the layout never sets.
func (l Layout) Decode(id ID) (Parts, error) { return unpack(l.text(), id) }

// Pack packs parts into an ID. It returns ErrFieldOutOfRange for a part that does not fit, ErrInvalidOption for parts
// that contradict each other, and ErrBeforeEpoch or ErrHorizonReached for a time outside the layout's range.
func (l Layout) Pack(parts Parts) (ID, error) {
	if parts.Time.IsZero() {
		begin, err := unixMsAt(l.text(), parts.Tick)
		if err != nil {
			return 0, err
		}
		parts.Time = time.UnixMilli(begin)
	}
	return pack(l.text(), parts)
}

// PartsAt returns parts for Pack: the tick of an instant, with all other fields zero.
func (l Layout) PartsAt(when time.Time) (Parts, error) { return partsAt(l.text(), when.UnixMilli()) }

// JoinNode returns the node of a datacenter and a worker.
func (l Layout) JoinNode(datacenter, worker uint64) (uint64, error) {
	return joinNode(l.text(), datacenter, worker)
}

// LowerBound returns the smallest ID in the tick that contains the instant, for range scans (id >= lower). Instants
// outside the layout's range are clamped to that range.
func (l Layout) LowerBound(when time.Time) ID { return certain(lowerBound(l.text(), when.UnixMilli())) }

// UpperBound returns the largest ID in the tick that contains the instant, for range scans (id <= upper). Instants
// outside the layout's range are clamped to that range.
func (l Layout) UpperBound(when time.Time) ID { return certain(upperBound(l.text(), when.UnixMilli())) }

// TickStart returns the start of a tick, or the horizon for ticks past the last one.
func (l Layout) TickStart(tick uint64) time.Time { return moment(certain(unixMsAt(l.text(), tick))) }

// Timestamp formats an instant in UTC as in RFC 3339, with the precision of the layout.
func (l Layout) Timestamp(when time.Time) string {
	return certain(timestamp(l.text(), when.UnixMilli()))
}

// certain panics on an error, because its callers' calls fail only for an invalid layout, and a Layout is always
// valid.
func certain[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
