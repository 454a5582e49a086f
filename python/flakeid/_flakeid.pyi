from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from types import TracebackType
from typing import Literal, NoReturn, Self, SupportsIndex, final
from uuid import UUID

from typing_extensions import Buffer

from .errors import FlakeIdError

__all__ = [
    "CachedGenerator",
    "Generator",
    "Layout",
    "Lease",
    "LeaseEvent",
    "LocalGenerator",
    "ManualClock",
    "Parts",
    "PublicIds",
    "RingStats",
    "Stats",
    "__version__",
    "_after_fork",
    "_close_leases",
    "_end",
    "_run",
    "auto",
    "create_namespace",
    "decode",
    "from_base32",
    "from_base36",
    "from_base58",
    "from_base58_flickr",
    "from_base62",
    "from_bytes",
    "from_decimal",
    "from_hex",
    "from_uuid",
    "from_zbase32",
    "lease",
    "lower_bound",
    "to_base32",
    "to_base36",
    "to_base58",
    "to_base58_flickr",
    "to_base62",
    "to_bytes",
    "to_decimal",
    "to_hex",
    "to_uuid",
    "to_zbase32",
    "upper_bound",
]

__version__: str

@final
class Generator:
    """A generator of unique IDs for one node. The IDs strictly increase across all threads.

    The node, which is set by `node` or by `datacenter` and `worker`, has no default. The node must
    differ from the node of every other generator of this layout that may run at the same time, on
    any host. Within one process, however, generators with the same layout and node share their
    state, and never issue the same ID. In a forked child, every call raises ForkedError; create a
    generator with another node in the child. flakeid.lease and flakeid.auto return Generators that
    do not require a node and can be used in a forked child. Durations are seconds (int or float) or
    timedeltas.

    Args:
        node: The node, from 0 to the layout's largest node; there is no default, because no other
            generator may use the same node at the same time.
        datacenter: The high part of the node, in layouts that split the node; must be set together
            with worker.
        worker: The low part of the node, in layouts that split the node; must be set together with
            datacenter.
        nodes: Several different nodes instead of one (default: one node). The number of nodes must
            be a power of two. In every tick, the generator can then issue the IDs of all these
            nodes. Several nodes cannot be combined with sequence_mask or with layouts that have
            clock sequences. Within a process, a node must be used either alone or always together
            with the same other nodes.
        layout: The layout of the IDs: a preset's name or a descriptor; or a Layout (default:
            "twitter").
        epoch: The instant of tick 0, in Unix milliseconds (default: the layout's epoch).
        window: The range of ticks that a lease allows the generator to use, including the start and
            excluding the fence, as (start, fence) (default: all ticks).
        overflow: The behaviour when a tick has no IDs left: "wait", "error" or "borrow" (default:
            "wait"). "borrow" requires a window.
        rollback: The behaviour when the clock goes backwards: "continue", "error", "wait" or
            "clock-sequence" (default: "continue").
        sequence_mask: The largest sequence number to use, which must have the form 2^k - 1
            (default: the layout's largest sequence number).
        sequence_start: The number of random bits in the first sequence number of each tick
            (default: 0).
        max_ahead: The longest time by which IDs in a window may be ahead of the clock (default: 20
            s).
        max_wait: The longest time that a call waits without issuing an ID (default: 1 s or two
            ticks, whichever is longer).
        clock: The clock: "gated", "system" or "coarse"; or a ManualClock, for tests (default:
            "gated"). With "gated", the time is exact, and on suitable processors the system clock
            is read only a few times per millisecond. With "system", the system clock is read for
            every ID. With "coarse", the time lags behind the system clock by a few milliseconds,
            and is never ahead of the system clock.

    Raises:
        FieldOutOfRangeError, InvalidOptionError, InvalidLayoutError: An argument is wrong.
        HorizonReachedError: The layout's ticks have run out.
        ForkedError: The parent process used this node.
    """
    def __new__(
        cls,
        *,
        # [options: generator parameters]
        node: SupportsIndex | None = None,
        datacenter: SupportsIndex | None = None,
        worker: SupportsIndex | None = None,
        nodes: Sequence[SupportsIndex] | None = None,
        layout: Layout | str = "twitter",
        epoch: SupportsIndex | None = None,
        window: tuple[SupportsIndex, SupportsIndex] | None = None,
        overflow: Literal["wait", "error", "borrow"] | None = None,
        rollback: Literal["continue", "error", "wait", "clock-sequence"] | None = None,
        sequence_mask: SupportsIndex | None = None,
        sequence_start: SupportsIndex | None = None,
        max_ahead: float | timedelta | None = None,
        max_wait: float | timedelta | None = None,
        clock: Literal["gated", "system", "coarse"] | ManualClock = "gated",
        # [/options]
    ) -> Self: ...
    def next_id(self) -> int:
        """The next ID. Waits at most max_wait, without the GIL: for the next tick when this one is full, for
        the clock when it went back, as the policies say.
        """
    def try_next_id(self) -> int:
        """The next ID, without ever waiting. The error's retry_after says when to try again."""
    def next_ids(self, n: SupportsIndex) -> list[int]:
        """Returns the next n IDs in order. Returns fewer IDs, but at least one, if the generator could
        not issue the next ID within max_wait.
        """
    def fill(self, buffer: Buffer) -> int:
        """Fills an array with the next IDs, in place, and returns the number of IDs. The number is
        less than the array's length only if the generator could not issue the next ID within
        max_wait. Accepts any writable, C-contiguous buffer of 64-bit integers (numpy, array.array,
        memoryview). Do not use the array in other threads during the call, because long fills run
        without the GIL.
        """
    def try_fill(self, buffer: Buffer) -> int:
        """Fills an array like fill(), but never waits."""
    async def next_id_async(self) -> int:
        """Return the next ID like next_id, but wait without blocking the event loop.

        The call returns at once if it does not have to wait. Like next_id, it waits at most max_wait,
        and raises the same errors.
        """
    async def next_ids_async(self, n: SupportsIndex) -> list[int]:
        """Return the next n IDs like next_ids, but wait without blocking the event loop."""
    async def fill_async(self, buffer: Buffer) -> int:
        """Fill an array like fill, but wait without blocking the event loop.

        Do not use the array until the call has returned.
        """
    def _poll_next_id(self, waited: float) -> int | float: ...
    def _poll_next_ids(self, n: SupportsIndex, waited: float) -> list[int] | float: ...
    def _poll_fill(self, buffer: Buffer, start: int, waited: float) -> int | float: ...
    def _collect(self) -> None: ...
    def __del__(self) -> None: ...
    def extend(self, fence: SupportsIndex) -> None:
        """Extends the generator's window to the tick `fence`, exclusive. Call this method only after
        the store that grants windows has confirmed the fence. Leased generators renew their window
        automatically; for a leased generator, this method raises InvalidOptionError.
        """
    def retire(self) -> int | None:
        """Ends this generator: every later call raises ClosedError. Returns the last tick in which the
        generator issued an ID, or None if the generator issued no ID. For a leased generator,
        raises InvalidOptionError; use close() instead.
        """
    def close(self) -> None:
        """Closes the generator. If the node is not leased, retires the generator, unless the generator
        has already been retired or this process is a forked child. If the node is leased, releases
        the node, unless another generator shares the lease. The call waits at most 1 s for the
        release, without the GIL. In a forked child, a leased generator releases the child's own
        node.
        """
    def local(self) -> LocalGenerator:
        """Returns a LocalGenerator of this generator, for use by one thread at a time. A
        LocalGenerator is faster, but its IDs are not ordered relative to IDs from other threads.
        The times in its IDs may lag behind the clock by a few milliseconds.
        """
    def stats(self) -> Stats:
        """Returns the number of waits, the number of rollbacks, and the largest number of ticks by
        which an ID was ahead of the clock.
        """
    @property
    def layout(self) -> Layout:
        """The layout of the IDs."""
    @property
    def node(self) -> int:
        """The node in the generator's IDs, or the smallest node if there are several. The node of a
        leased generator changes if the generator loses the node. In a forked child, the first use of
        this property leases the child's node, as the first ID does, and can raise the same errors.
        """
    @property
    def nodes(self) -> list[int]:
        """The nodes that the generator's IDs can contain, in increasing order: one node, unless nodes
        or node_count requested more.
        """
    @property
    def lease(self) -> Lease | None:
        """The current state of the lease or, after close(), the last state. None if the node is not
        leased.
        """
    def __iter__(self) -> Self: ...
    def __next__(self) -> int: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None: ...
    def __reduce_ex__(self, protocol: SupportsIndex, /) -> NoReturn: ...

@final
class LocalGenerator:
    """The fastest way to generate single IDs, for use by one thread at a time. Generator.local returns
    a LocalGenerator.

    A LocalGenerator reserves chunks of the generator's IDs. The IDs of one LocalGenerator strictly
    increase, and no other LocalGenerator or Generator issues the same IDs. However, an ID from
    another thread may be smaller even if that ID was generated later. Times in IDs are never ahead
    of the clock, and lag by at most one tick of the system's coarse clock, which lasts a few
    milliseconds. The LocalGenerator ends when its generator is closed. While a thread waits in a
    call of a LocalGenerator, calls from other threads raise RuntimeError, so give each thread its
    own LocalGenerator.
    """
    def next_id(self) -> int:
        """The next ID. Waits as Generator.next_id does, without the GIL."""
    async def next_id_async(self) -> int:
        """Return the next ID like next_id, but wait without blocking the event loop.

        The call returns at once if it does not have to wait. Like next_id, it waits at most max_wait,
        and raises the same errors.
        """
    def _poll_next_id(self, waited: float) -> int | float: ...
    @property
    def generator(self) -> Generator:
        """The generator from which this LocalGenerator reserves IDs."""
    def __iter__(self) -> Self: ...
    def __next__(self) -> int: ...

@final
class CachedGenerator:
    """A ring buffer of IDs, which a background thread generates in advance with a Generator. Any
    number of threads can take IDs from the ring.

    The ring returns IDs in increasing order; no ID is issued twice, and only stale IDs are skipped.
    Once the ring or its generator is closed, calls raise ClosedError. In a forked child, the ring
    of a leased generator restarts empty, and any other ring raises ForkedError. To end the ring's
    thread, close the ring or use the ring in a with block. Durations are seconds (int or float) or
    timedeltas.

    Args:
        generator: The Generator that generates the IDs. Its rollback option must not be
            'clock-sequence'.
        boost_power: The exponent k, from 0 to 20, that determines the ring's capacity (default: 3).
            The capacity is the number of IDs in 2^k full ticks, limited to the range from 2 to
            2^20.
        padding_factor: The percentage of the ring's capacity below which the ring is refilled: 1 to
            99 (default: 50).
        refill_interval: The interval at which the ring is refilled even if enough IDs are left: at
            least 1 ms (default: a refill only when too few IDs are left). Regular refills keep the
            IDs of a rarely used ring fresh.
        max_age: The maximum age of an ID that the ring returns: at least two ticks (default: 1 s or
            two ticks, whichever is longer). The age is measured from the beginning of the ID's
            tick. Older IDs are dropped and counted.
        on_rejected_put: A function that is called with the error, on the ring's thread, each time
            the generator refuses to fill the ring, except when all IDs of the tick have been used.
        on_rejected_take: A function that is called with the error, on the caller's thread, each
            time a call gets no ID for a reason other than a closed generator.

    Raises:
        FieldOutOfRangeError, InvalidOptionError: An argument is wrong.
        FlakeIdError: The generator cannot fill the ring.
    """
    def __new__(
        cls,
        generator: Generator,
        *,
        # [options: ring parameters]
        boost_power: SupportsIndex = 3,
        padding_factor: SupportsIndex = 50,
        refill_interval: float | timedelta | None = None,
        max_age: float | timedelta | None = None,
        on_rejected_put: Callable[[FlakeIdError], object] | None = None,
        on_rejected_take: Callable[[FlakeIdError], object] | None = None,
        # [/options]
    ) -> Self: ...
    def take(self) -> int:
        """The next ID of the ring, without ever waiting, except where a forked child, or a generator that had to
        lease another node, begins a new ring. RingEmptyError if the ring was not refilled in time.
        """
    def next_id(self) -> int:
        """The next ID of the ring. Waits for a refill, at most the generator's max_wait, without the GIL."""
    async def next_id_async(self) -> int:
        """Return the next ID like next_id, but wait without blocking the event loop.

        The call returns at once if it does not have to wait. Like next_id, it waits at most max_wait,
        and raises the same errors.
        """
    def _poll_next_id(self, waited: float) -> int | float: ...
    def _collect(self) -> None: ...
    def __del__(self) -> None: ...
    def close(self) -> None:
        """Closes the ring and ends its thread. A second call does nothing. The generator can still be
        used.
        """
    def stats(self) -> RingStats:
        """Returns the number of IDs in the ring and the ring's counters. After close(), returns the
        last values.
        """
    @property
    def capacity(self) -> int:
        """The number of IDs that the ring can hold."""
    @property
    def generator(self) -> Generator:
        """The generator that fills the ring. IDs that are taken directly from the generator differ
        from the ring's IDs, but are not ordered relative to them.
        """
    def __iter__(self) -> Self: ...
    def __next__(self) -> int: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None: ...

@final
class Layout:
    """The layout of an ID: the fields and their widths, the epoch, and the length of a tick.

    Create a layout from the name of a preset, as in Layout.parse("twitter"), or from a descriptor,
    as in Layout.parse("t42.n8.s13@1420070400000/5ms").
    """
    @classmethod
    def parse(cls, text: str) -> Layout:
        """Returns the layout that a preset's name or a descriptor specifies. A descriptor has the form
        FIELDS@EPOCH/UNIT, for example t41.d5.w5.s12@1288834974657/1ms.
        """
    @staticmethod
    def presets() -> dict[str, Layout]:
        """Returns a dict of all presets by name. Every function that accepts a descriptor also accepts
        the name of a preset.
        """
    def with_epoch(self, unix_ms: SupportsIndex) -> Layout:
        """Returns a layout with the same fields and unit, but with the given epoch (Unix
        milliseconds).
        """
    @property
    def descriptor(self) -> str:
        """The canonical descriptor of the layout, in the form FIELDS@EPOCH/UNIT."""
    @property
    def preset_name(self) -> str | None:
        """The name of the preset with this descriptor, or None if no preset has this descriptor."""
    @property
    def fields(self) -> list[tuple[str, int, int]]:
        """The tuple (name, width, shift) of every field, from the most to the least significant field."""
    @property
    def width(self) -> int:
        """The number of bits that the layout uses, out of 64."""
    @property
    def epoch(self) -> int:
        """The instant of tick 0, in Unix milliseconds."""
    @property
    def unit_ms(self) -> int:
        """The length of a tick in milliseconds."""
    @property
    def max_tick(self) -> int:
        """The last tick."""
    @property
    def max_node(self) -> int:
        """The largest node; 0 if the layout has no node field."""
    @property
    def max_datacenter(self) -> int | None:
        """The largest datacenter, or None if the layout does not split its node."""
    @property
    def max_worker(self) -> int | None:
        """The largest worker, or None if the layout does not split its node."""
    @property
    def max_sequence(self) -> int:
        """The largest sequence number."""
    @property
    def max_clock_sequence(self) -> int:
        """The largest clock sequence; 0 if the layout has no clock sequence."""
    @property
    def ids_per_tick(self) -> int:
        """The number of IDs that one node can issue in one tick."""
    @property
    def ids_per_second(self) -> float:
        """The number of IDs that one node can issue in one second."""
    @property
    def is_split(self) -> bool:
        """Whether the node is split into a datacenter (high bits) and a worker (low bits)."""
    @property
    def horizon(self) -> int:
        """The horizon: the first instant after the layout's last tick, in Unix milliseconds."""
    @property
    def fits_i64_until(self) -> int:
        """The exclusive end, in Unix milliseconds, of the period in which IDs are positive as signed
        64-bit integers.
        """
    @property
    def fits_f64(self) -> bool:
        """Whether a float, and therefore a JavaScript number, can represent every ID exactly. The
        value is True if IDs have at most 53 bits.
        """
    @property
    def can_generate(self) -> bool:
        """Whether generators can use this layout. If not, the layout can only be used to decode IDs."""
    def tick_at(self, when: datetime | SupportsIndex) -> int:
        """Returns the tick that contains an instant (an aware datetime, or Unix milliseconds)."""
    def unix_ms_at(self, tick: SupportsIndex) -> int:
        """Returns the instant at which a tick begins, in Unix milliseconds. For ticks after the last
        tick, returns the horizon.
        """
    def timestamp(self, when: datetime | SupportsIndex) -> str:
        """Returns an instant (an aware datetime, or Unix milliseconds) as an RFC 3339 string in UTC.
        The unit and the epoch determine the number of fractional digits.
        """
    def join_node(self, datacenter: SupportsIndex, worker: SupportsIndex) -> int:
        """Returns the node with the given datacenter and worker."""
    def split_node(self, node: SupportsIndex) -> tuple[int, int] | None:
        """Returns the tuple (datacenter, worker) of a node, or None if the layout does not split its
        node.
        """
    def pack(
        self,
        *,
        tick: SupportsIndex | None = None,
        unix_ms: SupportsIndex | None = None,
        node: SupportsIndex | None = None,
        datacenter: SupportsIndex | None = None,
        worker: SupportsIndex | None = None,
        clock_sequence: SupportsIndex | None = None,
        sequence: SupportsIndex | None = None,
    ) -> int:
        """Returns the ID with the given parts.

        Args:
            tick: The tick; unix_ms may be passed instead. If both are passed, they must agree.
            unix_ms: Any instant within the tick, in Unix milliseconds.
            node: The node; datacenter and worker may be passed instead. If all three are passed, they
                must agree.
            datacenter: The high part of the node, in layouts that split the node.
            worker: The low part of the node.
            clock_sequence: The clock sequence (default: 0).
            sequence: The sequence number (default: 0).

        Raises:
            FieldOutOfRangeError: A part is out of the layout's range.
            InvalidOptionError: The tick or the node is missing.
        """
    def unpack(self, id: SupportsIndex) -> Parts:
        """Returns the parts of an ID. Raises InvalidIdError if the ID has bits that this layout never
        sets.
        """
    def lower_bound(self, when: datetime | SupportsIndex) -> int:
        """Returns the smallest ID in the tick that contains `when` (an aware datetime, or Unix
        milliseconds).
        """
    def upper_bound(self, when: datetime | SupportsIndex) -> int:
        """Returns the largest ID in the tick that contains `when`. The ID is an inclusive upper bound."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class PublicIds:
    """Public IDs of one domain: encrypted IDs that do not reveal the time, node or sequence number.

    PublicIds(keyring, domain, layout="twitter", prefix=None, since=None). The keyring is the content of
    the file that `flakeid keygen` creates. The domain is the kind of object that the IDs identify, such as
    "user", and must not change while its public IDs are in use. A prefix consists of up to 16 lowercase
    letters and digits, and is followed by an underscore. IDs from before `since` (an aware datetime, or
    Unix milliseconds) cannot be opened.

    Public IDs do not replace authorization: in rare cases, a random string can be opened as an ID.
    """
    def __new__(
        cls,
        keyring: str,
        domain: str,
        layout: Layout | str | None = None,
        *,
        prefix: str | None = None,
        since: datetime | SupportsIndex | None = None,
    ) -> PublicIds: ...
    def seal(self, id: SupportsIndex) -> str:
        """Returns the public form of an ID: the prefix, the current key's letter, and 11 base58 digits.

        Raises InvalidIdError if the ID has bits that the layout never sets.
        """
    def seal_bits(self, id: SupportsIndex) -> int:
        """Returns the public form of an ID as a 64-bit int, without the prefix and the key letter.

        Raises InvalidIdError if the ID has bits that the layout never sets.
        """
    def open(self, text: str, *, now: datetime | SupportsIndex | None = None) -> int:
        """Opens a public ID and returns the original ID. If `now` (an aware datetime, or Unix
        milliseconds) is passed, `now` is used instead of the system clock.

        Raises InvalidIdError if the key, domain or prefix differs, or if the string is not a valid
        public ID. Also raises InvalidIdError if the ID is from before `since` or from more than a
        minute after `now`. The exception does not state which of these reasons applies.
        """
    @property
    def layout(self) -> Layout:
        """The layout of the IDs."""

@final
class Parts:
    """The parts of an ID, as returned by decode and Layout.unpack.

    `unix_ms` and `timestamp` contain the beginning of `tick`. `datacenter` and `worker` are None if
    the layout does not split its node. Parts can be compared, hashed, copied, pickled, and used in
    match statements. The constructor does not compare the parts with a layout; Layout.pack does.
    """

    __match_args__ = (
        "unix_ms",
        "tick",
        "node",
        "datacenter",
        "worker",
        "clock_sequence",
        "sequence",
    )
    def __new__(
        cls,
        unix_ms: SupportsIndex,
        tick: SupportsIndex,
        node: SupportsIndex,
        datacenter: SupportsIndex | None = None,
        worker: SupportsIndex | None = None,
        clock_sequence: SupportsIndex | None = None,
        sequence: SupportsIndex | None = None,
    ) -> Self: ...
    @property
    def timestamp(self) -> datetime | None:
        """The beginning of the tick, as an aware datetime in UTC. None after the year 9999, the last
        year that a datetime can represent.
        """
    @property
    def unix_ms(self) -> int:
        """The beginning of the tick, in Unix milliseconds."""
    @property
    def tick(self) -> int:
        """The number of whole time units since the layout's epoch."""
    @property
    def node(self) -> int:
        """The node; 0 if the layout has no node field."""
    @property
    def datacenter(self) -> int | None:
        """The high part of the node; None if the layout does not split its node."""
    @property
    def worker(self) -> int | None:
        """The low part of the node; None if the layout does not split its node."""
    @property
    def clock_sequence(self) -> int:
        """The clock sequence; 0 if the layout has no clock sequence."""
    @property
    def sequence(self) -> int:
        """The sequence number within the tick."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Stats:
    """The counters of a generator: the number of waits, the number of rollbacks, and the largest
    number of ticks by which an ID was ahead of the clock. Generators that share a node in one
    process also share these counters.
    """
    @property
    def waits(self) -> int:
        """The number of times that calls had to wait. Every wait during a fill is counted."""
    @property
    def rollbacks(self) -> int:
        """The number of times that the clock went backwards."""
    @property
    def largest_ahead(self) -> int:
        """The largest number of ticks by which an ID was ahead of the clock."""
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: None  # type: ignore[assignment]

@final
class RingStats:
    """The counters of a CachedGenerator: the numbers of IDs in the ring, taken IDs, dropped IDs,
    refills, failed refills and failed calls.
    """
    @property
    def size(self) -> int:
        """The number of IDs in the ring."""
    @property
    def taken(self) -> int:
        """The number of IDs that callers have taken from the ring."""
    @property
    def dropped_stale(self) -> int:
        """The number of IDs that were dropped because their tick was older than max_age."""
    @property
    def rejected_put(self) -> int:
        """The number of refills that the generator refused for a reason other than a full tick."""
    @property
    def rejected_take(self) -> int:
        """The number of calls that failed with an exception other than ClosedError or ForkedError."""
    @property
    def refills(self) -> int:
        """The number of times that IDs were added to the ring after the ring was first filled."""
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: None  # type: ignore[assignment]

@final
class Lease:
    """The state of a generator's lease at the moment when Generator.lease was read.

    Instants are aware datetimes in UTC. In a forked child, all instants are None and all counts are
    0 until the child generates its first ID. The child then leases a node of its own.
    """
    @property
    def start(self) -> int:
        """The first tick of the current grant."""
    @property
    def fence(self) -> int:
        """The fence: the first tick that the generator must not use. Every renewal raises the fence."""
    @property
    def fence_time(self) -> datetime | None:
        """The instant at which the fence's tick begins. While the store is unavailable, the generator
        issues IDs until this instant. None if the instant is after the year 9999, the last year that
        a datetime can represent.
        """
    @property
    def expires(self) -> datetime | None:
        """The time until which no other process can lease the node, according to the store's clock."""
    @property
    def expires_in(self) -> timedelta | None:
        """The time until the lease expires, as a timedelta. The time is measured on this host's clock
        from the moment when Generator.lease was read, and is negative if the lease had already
        expired.
        """
    @property
    def renewals(self) -> int:
        """The number of renewals that the store has confirmed."""
    @property
    def grants(self) -> int:
        """The number of nodes granted so far: one at first, and one more each time that a lost node is
        replaced.
        """
    @property
    def failures(self) -> int:
        """The number of failed attempts to acquire a node or to renew its lease."""
    @property
    def fenced_off(self) -> bool:
        """Whether the generator has lost the node, usually to another process, and can issue the node's
        IDs only until the fence.
        """
    @property
    def last_error(self) -> FlakeIdError | None:
        """The FlakeIdError of the latest attempt to acquire a node or to renew its lease, or None if
        the attempt succeeded.
        """

@final
class LeaseEvent:
    """A lease event, which is passed to the on_event function.

    `kind` is one of these strings, and later versions may add more:

    - 'acquired', 'released': A node was granted or released.
    - 'renewed': The window was extended.
    - 'fenced-off': The node is lost from its fence onward, usually to another process. This process
      then requests a node again, unless the lost node is fixed and another process has taken it
      over.
    - 'refused': The store refused a request.
    - 'store-lost', 'store-found': The store does not respond, or responds again.
    - 'clock-skew': This host's clock and the store's clock are too far apart.

    Properties that do not apply to the kind of event are None.
    """
    @property
    def kind(self) -> str:
        """The kind of the event."""
    @property
    def node(self) -> int | None:
        """The node that was acquired, renewed, lost or released."""
    @property
    def start(self) -> int | None:
        """The first tick that may be used, if a node was acquired."""
    @property
    def fence(self) -> int | None:
        """The first tick that must not be used, if a node was acquired or renewed."""
    @property
    def error(self) -> FlakeIdError | None:
        """The reason for the event, as a FlakeIdError."""

@final
class ManualClock:
    """A clock for tests of code that generates IDs. The clock moves only when the test sets or
    advances the clock, or when a generator waits.

    Pass the clock to a Generator as `clock`. A wait moves the clock forward instead of sleeping, so
    tests take no time and never hang.
    """
    def __new__(cls, unix_ms: SupportsIndex) -> Self: ...
    @property
    def unix_ms(self) -> int:
        """The time of the clock, in Unix milliseconds."""
    def set(self, unix_ms: SupportsIndex) -> None:
        """Sets the clock forward or back."""
    def advance(self, step: float | timedelta) -> None:
        """Moves the clock forward.

        Args:
            step: Seconds (int or float) or a timedelta, rounded up to whole milliseconds.
        """

def decode(id: SupportsIndex, layout: Layout | str = "twitter") -> Parts:
    """Returns the parts of an ID.

    Args:
        id: The ID.
        layout: A Layout, a preset's name or a descriptor.

    Raises:
        InvalidIdError: The ID has bits that the layout never sets.
    """

def lower_bound(when: datetime | SupportsIndex, layout: Layout | str = "twitter") -> int:
    """Returns the smallest ID in the tick that contains an instant. In a range scan, use the ID as the
    lower bound: id >= lower.

    Args:
        when: An aware datetime, or Unix milliseconds. For an instant before the layout's first
            tick, the first tick is used. For an instant after the last tick, the last tick is used.
        layout: A Layout, a preset's name or a descriptor.
    """

def upper_bound(when: datetime | SupportsIndex, layout: Layout | str = "twitter") -> int:
    """Returns the largest ID in the tick that contains an instant. In a range scan, use the ID as the
    upper bound: id <= upper.

    Args:
        when: An aware datetime, or Unix milliseconds. For an instant before the layout's first
            tick, the first tick is used. For an instant after the last tick, the last tick is used.
        layout: A Layout, a preset's name or a descriptor.
    """

def to_decimal(id: SupportsIndex) -> str:
    """Returns an ID as 1 to 20 decimal digits."""

def from_decimal(text: str) -> int:
    """Parses a string of 1 to 20 decimal digits as an ID. Leading zeros are allowed, but signs and spaces are not.


    Raises InvalidIdError for anything else.
    """

def to_base32(id: SupportsIndex) -> str:
    """Returns an ID as 13 digits of Crockford's base32; the strings sort in the order of the IDs."""

def from_base32(text: str) -> int:
    """Parses a string of 13 digits of Crockford's base32 as an ID; lowercase, I and L for 1, and O for 0 are allowed.


    Raises InvalidIdError for anything else.
    """

def to_base36(id: SupportsIndex) -> str:
    """Returns an ID as 1 to 13 lowercase base36 digits."""

def from_base36(text: str) -> int:
    """Parses a string of 1 to 13 base36 digits as an ID; uppercase is allowed, but leading zeros are not.


    Raises InvalidIdError for anything else.
    """

def to_base58(id: SupportsIndex) -> str:
    """Returns an ID as 1 to 11 base58 digits in Bitcoin's alphabet."""

def from_base58(text: str) -> int:
    """Parses a string of 1 to 11 base58 digits in Bitcoin's alphabet as an ID; a leading 1 (zero in this alphabet) is not allowed.


    Raises InvalidIdError for anything else.
    """

def to_base62(id: SupportsIndex) -> str:
    """Returns an ID as 11 base62 digits (0-9A-Za-z); the strings sort in the order of the IDs."""

def from_base62(text: str) -> int:
    """Parses a string of 11 base62 digits (0-9A-Za-z) as an ID.


    Raises InvalidIdError for anything else.
    """

def to_hex(id: SupportsIndex) -> str:
    """Returns an ID as 16 lowercase hexadecimal digits; the strings sort in the order of the IDs."""

def from_hex(text: str) -> int:
    """Parses a string of 16 hexadecimal digits as an ID; uppercase is allowed, but a 0x prefix is not.


    Raises InvalidIdError for anything else.
    """

def to_base58_flickr(id: SupportsIndex) -> str:
    """Returns an ID as 1 to 11 base58 digits in Flickr's alphabet, like Go's bwmarrin/snowflake."""

def from_base58_flickr(text: str) -> int:
    """Parses a string of 1 to 11 base58 digits in Flickr's alphabet as an ID; a leading 1 (zero in this alphabet) is not allowed.


    Raises InvalidIdError for anything else.
    """

def to_zbase32(id: SupportsIndex) -> str:
    """Returns an ID as 1 to 13 digits of z-base-32, like `Base32` of Go's bwmarrin/snowflake."""

def from_zbase32(text: str) -> int:
    """Parses a string of 1 to 13 z-base-32 digits as an ID; uppercase is allowed, but a leading y (zero in this alphabet) is not.


    Raises InvalidIdError for anything else.
    """

def to_uuid(id: SupportsIndex) -> UUID:
    """Returns an ID as a `uuid.UUID` of version 8, for columns and interfaces that require a UUID. The
    UUIDs sort in the order of the IDs, and contain no random bits.
    """

def from_uuid(uuid: UUID | str) -> int:
    """Converts a UUID that `to_uuid` returned to the ID. Accepts a `uuid.UUID`, and a string of 36
    characters in upper or lower case.

    Raises InvalidIdError for any other UUID.
    """

def to_bytes(id: SupportsIndex) -> bytes:
    """Returns an ID as 8 bytes, with the most significant byte first. The bytes objects sort in the
    order of the IDs.
    """

def from_bytes(data: Buffer) -> int:
    """Converts 8 bytes, with the most significant byte first, to an ID. Accepts any bytes-like object.

    Raises InvalidIdError if the object does not contain exactly 8 bytes.
    """

def lease(
    url: str,
    *,
    # [options: lease parameters]
    namespace: str = "default",
    name: str | None = None,
    node: SupportsIndex | None = None,
    datacenter: SupportsIndex | None = None,
    worker: SupportsIndex | None = None,
    nodes: tuple[SupportsIndex, SupportsIndex] | None = None,
    node_count: SupportsIndex = 1,
    layout: Layout | str = "twitter",
    epoch: SupportsIndex | None = None,
    ttl: float | timedelta | None = None,
    window: float | timedelta | None = None,
    overflow: Literal["wait", "error", "borrow"] | None = None,
    rollback: Literal["continue", "error", "wait"] | None = None,
    sequence_mask: SupportsIndex | None = None,
    sequence_start: SupportsIndex | None = None,
    max_wait: float | timedelta | None = None,
    open_wait: float | timedelta | None = None,
    clock: Literal["gated", "system", "coarse"] = "gated",
    reuse: bool = True,
    on_event: Callable[[LeaseEvent], object] | None = None,
    # [/options]
) -> Generator:
    """Leases a node from a store and returns a Generator. The Generator's IDs are unique among all
    processes that lease nodes from the same namespace, regardless of clock changes, forks and
    restarts.

    The node is released when the Generator is closed, when the with block ends, or when the
    interpreter exits. A background thread renews the lease. Generators in one process that have the
    same options share a lease. A forked child leases its own node when it generates its first ID.
    Durations are seconds (int or float) or timedeltas. The call takes at most max_wait plus 2 s, or
    open_wait while a restarted store grants nothing, without the GIL.

    Args:
        url: The store: sqlite:///path, postgresql://…, mysql://…, redis://… or etcd://….
        namespace: The namespace from which to lease a node: 1 to 64 characters from the set A-Z a-z
            0-9 . _ - (default: "default"). Each namespace has one layout and its own nodes.
        name: The name of this process, 1 to 128 bytes long (default: none). If possible, the
            process gets the last node that was leased under its name.
        node: The node to lease (default: any node). Taking over the node is safe even while another
            process holds it.
        datacenter: The high part of the node, in layouts that split the node; must be set together
            with worker.
        worker: The low part of the node, in layouts that split the node; must be set together with
            datacenter.
        nodes: The range of nodes to choose from, both ends inclusive, as (from, to) (default: all
            nodes of the layout).
        node_count: The number of nodes to lease for this generator, which must be a power of two
            (default: 1). In every tick, the generator can issue the IDs of all these nodes. Several
            nodes cannot be combined with name, node or sequence_mask.
        layout: The layout of the IDs: a preset's name or a descriptor; or a Layout (default:
            "twitter"). A lease must use the layout of its namespace.
        epoch: The instant of tick 0, in Unix milliseconds (default: the layout's epoch).
        ttl: The time for which the node stays reserved after the last renewal: 1 ms to 30 days
            (default: 60 s or 12 ticks, whichever is longer). Uniqueness does not depend on this
            time.
        window: The time for which the generator issues IDs while the store is unavailable: from two
            ticks to the longest window that the namespace allows (default: 10 s or two ticks,
            whichever is longer).
        overflow: The behaviour when a tick has no IDs left: "wait", "error" or "borrow" (default:
            "wait").
        rollback: The behaviour when the clock goes backwards: "continue", "error" or "wait"
            (default: "continue").
        sequence_mask: The largest sequence number to use, which must have the form 2^k - 1
            (default: the layout's largest sequence number).
        sequence_start: The number of random bits in the first sequence number of each tick
            (default: 0).
        max_wait: The longest time that a call waits without issuing an ID (default: 1 s or two
            ticks, whichever is longer). Opening a lease may take up to 2 s longer because of the
            connection to the store, or as long as open_wait if the store grants nothing after a
            restart.
        open_wait: The longest time that opening a lease waits while the store grants nothing, for
            example after a restart (default: 30 s). If the store would grant a node only later,
            opening fails at once.
        clock: The clock: "gated", "system" or "coarse" (default: "gated"). With "gated", the time
            is exact, and on suitable processors the system clock is read only a few times per
            millisecond. With "system", the system clock is read for every ID. With "coarse", the
            time lags behind the system clock by a few milliseconds, and is never ahead of the
            system clock.
        reuse: Whether a node that was leased before may be leased again (default: True). Without
            reuse, each start of the program uses up a node, until no node is left.
        on_event: A function that is called with a LeaseEvent for each event of the lease, on the
            lease's thread. The function should return quickly, because the lease is not renewed
            during its call. A lease with an event function is not shared with other generators.

    Raises:
        StoreUnavailableError: The store does not respond.
        StoreRejectedError: The password is wrong, the namespace does not exist or has another
            layout, or the store's settings are unsafe.
        NoFreeNodeError: All nodes of the range are taken.
        FenceInFutureError: No node can be granted yet; retry_after is the time to wait.
        ClockSkewError: This host's clock and the store's clock are too far apart.
        InvalidLayoutError, FieldOutOfRangeError, InvalidOptionError: An argument is wrong.
    """

def create_namespace(
    url: str,
    name: str,
    *,
    # [options: namespace parameters]
    layout: Layout | str = "twitter",
    epoch: SupportsIndex | None = None,
    max_ahead: float | timedelta | None = None,
    max_window: float | timedelta | None = None,
    max_skew: float | timedelta | None = None,
    quiet: float | timedelta | None = None,
    block_bits: SupportsIndex = 0,
    history: bool = True,
    fresh: bool = False,
    # [/options]
) -> float:
    """Creates the namespace name in the store at url, with the tables or keys that the store needs for
    it, unless the namespace exists. Returns the time until the store can grant nodes, in seconds.

    A server cannot distinguish a namespace that never existed from a namespace that it has lost.
    Therefore, the store grants nothing until all leases that it may have lost have ended: 15 s with
    the default bounds, and the first IDs are then up to 18 s ahead of the clock. Each assumed bound
    is the larger of the default bound and the given bound. If the lost namespace may have had larger
    bounds, create it with the command flakeid leases init --lost. An embedded store
    (sqlite) detects its losses, so its nodes can usually be leased at once.

    If the namespace already exists with the same layout, the same blocks and the given options,
    nothing changes, so every process can call this function when it starts. On a database server,
    the function requires a user who may create tables.

    Args:
        url: The store: sqlite:///path, postgresql://…, mysql://…, redis://… or etcd://….
        name: The name of the namespace: 1 to 64 characters of A-Z a-z 0-9 . _ -.
        layout: The layout of the IDs: a preset's name or a descriptor; or a Layout (default:
            "twitter").
        epoch: The instant of tick 0, in Unix milliseconds (default: the layout's epoch).
        max_ahead: The longest time by which a window may start ahead of the clock: at most a day
            (default: 20 s or four ticks, whichever is longer).
        max_window: The longest window of a lease, for which processes can issue IDs while the store
            is unavailable: from two ticks to a day (default: 10 s or four ticks, whichever is
            longer).
        max_skew: The largest allowed difference between a host's clock and the store's clock: 1 ms
            to a day (default: 1 s).
        quiet: The time for which the store grants no nodes after a restart, a failover or a
            restore: at most a week (default: the longest window, four times the allowed difference
            between clocks and a tick, but at least 15 s).
        block_bits: The exponent k: brokers lease blocks of 2^k nodes, and processes lease nodes
            from the brokers (default: 0). With 0, processes lease single nodes from the store.
        history: Whether the store records which process held which node (default: True).
        fresh: Whether the store has never had a namespace with this name, so that it grants nodes
            at once (default: False). If this is untrue, IDs may be issued twice. Never set this
            option when a program starts: it is untrue after the store has lost its data.

    Raises:
        InvalidOptionError: An argument is wrong, or the namespace exists with another value of a
            given option.
        StoreRejectedError: The namespace exists with another layout or other blocks, the URL
            belongs to a broker, or the user may not create tables.
        StoreUnavailableError: The store does not respond.
        InvalidLayoutError, FieldOutOfRangeError: An argument is wrong.
    """

def auto(
    layout: Layout | str = "twitter", *, clock: Literal["gated", "system", "coarse"] = "gated"
) -> Generator:
    """Returns a Generator that needs no configuration. Within one process, all generators that this
    function returns for the same layout and clock share one lease. The lease lasts until the
    interpreter exits.

    The environment variables FLAKEID_STORE and FLAKEID_NAMESPACE name the store and the namespace.
    The default store is the one that root has named in /etc/flakeid/store, or else the embedded
    store, a file for the current user on this host. In a container, the file would be neither
    permanent nor shared, so the call raises an error that lists three alternatives. In all other
    respects, the function works in the same way as lease().

    Args:
        layout: A Layout, a preset's name or a descriptor.
        clock: 'gated', 'system' or 'coarse', as in Generator.

    Raises:
        The exceptions that lease raises.
    """

def _close_leases() -> None: ...
def _end() -> None: ...
def _after_fork() -> None: ...
def _run(arguments: Sequence[str]) -> int: ...
