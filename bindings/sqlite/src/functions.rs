//! The SQL functions.

use std::path::PathBuf;

use flakeid_core::{Error, ErrorKind, Id, Layout, Parts, PublicIds, TextForm};
use flakeid_json::{IdJson, layout_name, parse_instant};

use crate::connection::Connection;
use crate::value::{Answer, Argument};

/// The flags SQLITE_DETERMINISTIC and SQLITE_INNOCUOUS. An index may use a function with these flags, because equal
/// arguments always produce equal results. An untrusted schema may also call such a function.
const PURE: i32 = 0x0000_0800 | 0x0020_0000;
/// The flag SQLITE_DIRECTONLY, which forbids calls from views, triggers and other parts of a schema, because the schema
/// may be untrusted.
const DIRECT: i32 = 0x0008_0000;
/// The flags of a nondeterministic function that a trusted schema may call, for example in a column default.
const IN_SCHEMA: i32 = 0;

/// The context that a function reads in addition to its arguments.
pub(crate) struct Scope<'a> {
    pub(crate) connection: &'a Connection,
    /// The files of the connection's databases.
    pub(crate) files: &'a dyn Fn() -> Result<Vec<PathBuf>, Error>,
}

type Call = fn(&Scope<'_>, &[Argument<'_>]) -> Result<Answer, Error>;

/// An SQL function.
pub(crate) struct Function {
    pub(crate) name: &'static std::ffi::CStr,
    /// The number of arguments, or -1 for any number.
    pub(crate) arguments: i32,
    pub(crate) flags: i32,
    /// Whether the result is NULL if any argument is NULL.
    pub(crate) is_strict: bool,
    pub(crate) call: Call,
}

impl Function {
    const fn pure(name: &'static std::ffi::CStr, arguments: i32, call: Call) -> Self {
        Self { name, arguments, flags: PURE, is_strict: true, call }
    }

    const fn other(name: &'static std::ffi::CStr, arguments: i32, flags: i32, call: Call) -> Self {
        Self { name, arguments, flags, is_strict: false, call }
    }
}

/// All SQL functions except `flakeid_next_n`, which returns rows, and [`ADD_DOMAIN`].
pub(crate) static FUNCTIONS: [Function; 20] = [
    Function::other(c"flakeid_configure", -1, DIRECT, configure),
    Function::other(c"flakeid_next", 0, IN_SCHEMA, next),
    Function::pure(c"flakeid_time", 1, time),
    Function::pure(c"flakeid_tick", 1, |scope, ids| part(scope, ids, |parts, _| Some(parts.tick))),
    Function::pure(c"flakeid_node", 1, |scope, ids| part(scope, ids, |parts, _| Some(parts.node))),
    Function::pure(c"flakeid_datacenter", 1, |scope, ids| {
        part(scope, ids, |parts, _| parts.datacenter)
    }),
    Function::pure(c"flakeid_worker", 1, |scope, ids| part(scope, ids, |parts, _| parts.worker)),
    Function::pure(c"flakeid_clock_sequence", 1, |scope, ids| {
        let has = |layout: &Layout| layout.max_clock_sequence() > 0;
        part(scope, ids, |parts, layout| has(layout).then_some(parts.clock_sequence))
    }),
    Function::pure(c"flakeid_sequence", 1, |scope, ids| {
        part(scope, ids, |parts, _| Some(parts.sequence))
    }),
    Function::pure(c"flakeid_inspect", 1, inspect),
    Function::pure(c"flakeid_min", 1, |scope, times| {
        let (layout, unix_ms) = (scope.connection.layout()?, instant(&times[0])?);
        Ok(Answer::Integer(layout.lower_bound(unix_ms).to_i64()))
    }),
    Function::pure(c"flakeid_max", 1, |scope, times| {
        let (layout, unix_ms) = (scope.connection.layout()?, instant(&times[0])?);
        Ok(Answer::Integer(layout.upper_bound(unix_ms).to_i64()))
    }),
    Function::pure(c"flakeid_text", 2, |_, arguments| {
        let id = arguments[0].id()?;
        Ok(Answer::Text(form(&arguments[1])?.encode(id).as_str().to_owned()))
    }),
    Function::pure(c"flakeid_parse", 2, |_, arguments| {
        let text = arguments[0].text("text")?;
        Ok(Answer::Integer(form(&arguments[1])?.decode(text)?.to_i64()))
    }),
    Function::pure(c"flakeid_to_uuid", 1, |_, ids| Ok(Answer::Blob(ids[0].id()?.to_uuid_bytes()))),
    Function::pure(c"flakeid_from_uuid", 1, |_, uuids| {
        Ok(Answer::Integer(from_uuid(&uuids[0])?.to_i64()))
    }),
    Function::other(c"flakeid_layout", 0, IN_SCHEMA, |scope, _| {
        Ok(Answer::Text(scope.connection.layout()?.to_string()))
    }),
    Function::other(c"flakeid_version", 0, PURE, |_, _| {
        Ok(Answer::Text(env!("CARGO_PKG_VERSION").to_owned()))
    }),
    Function { is_strict: true, ..Function::other(c"flakeid_seal", 2, IN_SCHEMA, seal) },
    Function { is_strict: true, ..Function::other(c"flakeid_open", 2, IN_SCHEMA, open) },
];

/// The SQL function `flakeid_add_domain`. The function is registered for any number of arguments; otherwise, SQLite
/// would treat the variants with two, three and four arguments as three separate functions.
pub(crate) static ADD_DOMAIN: Function =
    Function::other(c"flakeid_add_domain", -1, DIRECT, add_domain);

fn configure(scope: &Scope<'_>, arguments: &[Argument<'_>]) -> Result<Answer, Error> {
    let options = arguments.iter().map(|option| option.text("options"));
    let options = options.collect::<Result<Vec<_>, _>>()?;
    let layout = scope.connection.configure(&options, &(scope.files)()?)?;
    Ok(Answer::Text(layout.to_string()))
}

fn next(scope: &Scope<'_>, _: &[Argument<'_>]) -> Result<Answer, Error> {
    Ok(Answer::Integer(scope.connection.generator()?.next_id()?.to_i64()))
}

fn time(scope: &Scope<'_>, ids: &[Argument<'_>]) -> Result<Answer, Error> {
    let layout = scope.connection.layout()?;
    let parts = layout.unpack(ids[0].id()?)?;
    Ok(Answer::Text(layout.timestamp(parts.unix_ms).to_string()))
}

/// Returns a numeric part of an ID, or NULL if the layout does not contain that part.
fn part(
    scope: &Scope<'_>,
    ids: &[Argument<'_>],
    of: impl Fn(&Parts, &Layout) -> Option<u64>,
) -> Result<Answer, Error> {
    let layout = scope.connection.layout()?;
    let parts = layout.unpack(ids[0].id()?)?;
    // `configure` rejects 64-bit layouts, so every field fits into an `i64`.
    Ok(of(&parts, &layout).map_or(Answer::Null, |number| Answer::Integer(number as i64)))
}

fn inspect(scope: &Scope<'_>, ids: &[Argument<'_>]) -> Result<Answer, Error> {
    let layout = scope.connection.layout()?;
    let name = layout_name(&layout);
    let json = serde_json::to_string(&IdJson::new(ids[0].id()?, &layout, &name)?);
    json.map(Answer::Text).map_err(|error| {
        Error::invalid_option("id", &format!("cannot be written as JSON: {error}"))
    })
}

/// Parses an instant in a form that the `flakeid` command accepts, or in the form that SQLite's time functions return.
/// SQLite's form is in UTC.
fn instant(argument: &Argument<'_>) -> Result<i64, Error> {
    let text = argument.text("time")?;
    let in_utc = || parse_instant("time", &format!("{text}Z"));
    parse_instant("time", text).or_else(|error| in_utc().map_err(|_| error))
}

/// Converts the bytes or the string of a UUID to an ID.
fn from_uuid(argument: &Argument<'_>) -> Result<Id, Error> {
    let Argument::Blob(bytes) = argument else {
        return TextForm::Uuid.decode(argument.text("uuid")?);
    };
    let bytes = <[u8; 16]>::try_from(*bytes).map_err(|_| {
        let sentence = format!("a UUID is 16 bytes, not {}", bytes.len());
        Error::new(ErrorKind::InvalidId, &sentence, None)
    })?;
    Id::from_uuid_bytes(bytes)
}

fn form(argument: &Argument<'_>) -> Result<TextForm, Error> {
    argument.text("form")?.parse()
}

/// Adds a domain of public IDs. The arguments are `(name, keyring, prefix, since)`. The arguments `prefix` and `since`
/// may be omitted or NULL.
fn add_domain(scope: &Scope<'_>, arguments: &[Argument<'_>]) -> Result<Answer, Error> {
    let ([name, keyring, others @ ..], 2..=4) = (arguments, arguments.len()) else {
        let reason = format!(
            "has {} arguments; expected (name, keyring, prefix, since), where prefix and since are optional",
            arguments.len()
        );
        return Err(Error::invalid_option("flakeid_add_domain", &reason));
    };
    let given = |n: usize| others.get(n).filter(|argument| !matches!(argument, Argument::Null));
    let prefix = given(0).map(|prefix| prefix.text("prefix")).transpose()?;
    let since = given(1).map(instant).transpose()?;
    let (name, layout) = (name.text("name")?, scope.connection.layout()?);
    let keyring = keyring.content("keyring")?;
    let ids = PublicIds::from_text(keyring, name, layout, prefix, since)?;
    scope.connection.add_domain(name, ids);
    Ok(Answer::Null)
}

fn seal(scope: &Scope<'_>, arguments: &[Argument<'_>]) -> Result<Answer, Error> {
    let ids = scope.connection.domain(arguments[1].text("domain")?)?;
    Ok(Answer::Text(ids.seal(arguments[0].id()?)?))
}

fn open(scope: &Scope<'_>, arguments: &[Argument<'_>]) -> Result<Answer, Error> {
    let ids = scope.connection.domain(arguments[1].text("domain")?)?;
    Ok(Answer::Integer(ids.open(arguments[0].text("text")?)?.to_i64()))
}
