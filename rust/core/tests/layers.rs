//! The imports of the crate follow one acyclic list: a module uses modules of earlier layers only.

use std::fs;
use std::path::{Path, PathBuf};

/// Modules of one line do not know each other; each may use the lines above.
const LAYERS: &[&[&str]] = &[
    &["error"],
    &["control"],
    &["noise", "path"],
    &["program"],
    &["library"],
    &["regression", "sampler", "filter"],
    &["simulate"],
    &["problems"],
];

fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|modules| modules.contains(&module))
}

/// The modules that a source text names as `crate::module`, comments aside; braces after `crate::` are looked into.
fn used(text: &str) -> Vec<String> {
    let code: String = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let ends = |c: char| !c.is_alphanumeric() && c != '_';
    let mut found = Vec::new();
    for piece in code.split("crate::").skip(1) {
        let group = match piece.strip_prefix('{') {
            Some(group) => group.split('}').next().unwrap_or_default().split(',').collect(),
            None => vec![piece],
        };
        found.extend(group.iter().filter_map(|item| item.trim().split(ends).next()).map(str::to_owned));
    }
    // A capital starts a type that the crate's root re-exports from `error`.
    found.retain(|name| name.starts_with(char::is_lowercase));
    found
}

/// What breaks the list in a source text that belongs to `module`.
fn violations(module: &str, text: &str) -> Vec<String> {
    let Some(own) = layer(module) else {
        return vec![format!(
            "module `{module}` has no layer: give it one in LAYERS, below all that it uses"
        )];
    };
    let mut problems = Vec::new();
    for other in used(text).iter().filter(|other| *other != module) {
        match layer(other) {
            Some(theirs) if theirs < own => {}
            Some(_) => problems.push(format!("`{module}` uses `{other}`, which is not in an earlier layer")),
            None => problems.push(format!("`{module}` uses `{other}`, which has no layer in LAYERS")),
        }
    }
    problems
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("the source folder can be read").flatten() {
        let path = entry.path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

#[test]
fn imports_follow_the_layers() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut problems = Vec::new();
    for file in sources(&root) {
        let inner = file.strip_prefix(&root).expect("a file of the source folder");
        let first = inner.components().next().expect("a file name").as_os_str().to_string_lossy();
        let module = first.trim_end_matches(".rs");
        if module != "lib" {
            problems.extend(violations(module, &fs::read_to_string(&file).expect("a readable source file")));
        }
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

#[test]
fn a_wrong_import_is_found() {
    assert!(violations("filter", "use crate::path::Path;\nuse crate::error::{Error, Result};").is_empty());
    assert!(violations("filter", "use crate::{Result, noise::Draws};\n// crate::simulate").is_empty());
    assert_eq!(violations("filter", "use crate::simulate::Sde;").len(), 1);
    assert_eq!(violations("filter", "use crate::{Result, simulate};").len(), 1);
    assert_eq!(violations("program", "fn f(x: crate::regression::Sums) {}").len(), 1);
    assert_eq!(violations("filter", "fn f(x: crate::regression::Sums) {}").len(), 1);
    assert_eq!(violations("unheard_of", "").len(), 1);
}
