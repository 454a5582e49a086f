/// An environment variable. One that is set but empty counts: an empty value that stands where a
/// node was meant to be must not pass for "no node".
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
}
