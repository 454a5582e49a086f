/// This host's name, for people to read in `flakeid leases ls`; empty if it has none.
pub(crate) fn name() -> String {
    let name = gethostname::gethostname().to_string_lossy().into_owned();
    name.chars().filter(|c| !c.is_control()).take(128).collect()
}
