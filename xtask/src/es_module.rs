//! Converts the modules of `node/lib` from `CommonJS` to ES modules.

use flakeid_steps::Failed;

/// The runtime that loads a converted module.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Runtime {
    /// A bundle for Node, in which `require` and `module` stay available.
    NodeBundle,
    Web,
}

/// Converts a module to an ES module. The files use only two forms of imports and exports, so
/// replacing lines is sufficient.
pub(crate) fn as_es_module(name: &str, source: &str, runtime: Runtime) -> Result<String, Failed> {
    let mut module = String::new();
    for line in source.lines().filter(|line| *line != "'use strict';") {
        module.push_str(&converted(line, runtime).ok_or_else(|| {
            Failed(format!("{name}: this line cannot be converted to an ES module: {line}"))
        })?);
        module.push('\n');
    }
    Ok(module.trim_start().to_owned())
}

fn converted(line: &str, runtime: Runtime) -> Option<String> {
    let import = line
        .strip_prefix("const ")
        .and_then(|rest| rest.strip_suffix("');"))
        .and_then(|rest| rest.split_once(" = require('"));
    if let Some((names, file)) = import {
        return Some(format!("import {names} from '{file}';"));
    }
    // An ES module cannot export the properties of an object that is computed at run time.
    let is_list = |names: &&str| names.starts_with('{') && !names.contains("...");
    let export = line.strip_prefix("module.exports = ").filter(is_list);
    if let Some(names) = export {
        return Some(format!("export {names}"));
    }
    let stays = runtime == Runtime::NodeBundle
        || line.trim_start().starts_with("//")
        || !(line.contains("require(") || line.contains("module.exports"));
    stays.then(|| line.to_owned())
}
