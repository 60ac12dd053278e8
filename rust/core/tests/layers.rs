//! The imports of the crate follow one acyclic list: a folder uses folders of earlier rows, and no files use each other
//! in a circle. Uses by `crate::` and by `super::` count, in imports and in the code; comments and unit tests do not.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Modules of one row do not know each other; each may use the rows above.
const LAYERS: [&[&str]; 8] = [
    &["error", "vectorised"],
    &["control", "noise", "path", "table"],
    &["program"],
    &["regression"],
    &["sampler"],
    &["filter"],
    &["simulate"],
    &["discovery"],
];

/// The text of each module by its path, `program::graph` say; a folder's `mod.rs` has the folder's path.
type Sources = BTreeMap<String, String>;

/// The crate's modules but its root.
fn sources() -> Sources {
    fn read(folder: &Path, inside: &str, found: &mut Sources) {
        for entry in fs::read_dir(folder).expect("the source folder can be read").flatten() {
            let path = entry.path();
            let stem = path.file_stem().expect("a name").to_string_lossy().into_owned();
            let name = [inside, &stem]
                .iter()
                .filter(|part| !part.is_empty())
                .copied()
                .collect::<Vec<_>>()
                .join("::");
            if path.is_dir() {
                read(&path, &name, found);
            } else if path.extension().is_some_and(|kind| kind == "rs") && stem != "tests" && name != "lib" {
                let name = if stem == "mod" { inside.to_owned() } else { name };
                found.insert(name, fs::read_to_string(&path).expect("a readable source file"));
            }
        }
    }
    let mut found = Sources::new();
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), "", &mut found);
    found
}

/// The code of a text without comments and unit tests.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]").next().unwrap_or_default();
    text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// The paths that a tree of names after `prefix` spells out: `a::{b, c::d}` is `a::b` and `a::c::d`.
fn spelled(prefix: &str, tree: &str) -> Vec<String> {
    let word = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let end = tree.find(|c| !word(c)).unwrap_or(tree.len());
    let path = format!("{prefix}{}", &tree[..end]);
    let Some(group) = tree[end..].strip_prefix('{').filter(|_| end == 0 || path.ends_with("::")) else {
        return vec![path];
    };
    let (mut depth, mut start, mut found) = (0, 0, Vec::new());
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                found.extend(spelled(&path, group[start..at].trim()));
                start = at + 1;
                if c == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    found
}

/// The modules that `module` uses, longest known path of each.
fn uses(module: &str, sources: &Sources) -> BTreeSet<String> {
    let text = code(&sources[module]);
    let parent = module.rsplit_once("::").map_or("", |(parent, _)| parent);
    let own = if parent.is_empty() { String::new() } else { format!("{parent}::") };
    let mut paths = Vec::new();
    for (start, prefix) in [("crate::", ""), ("super::", &own)] {
        for (at, _) in text.match_indices(start) {
            paths.extend(spelled(prefix, text[at + start.len()..].trim_start()));
        }
    }
    // What `mod.rs` declares or re-exports of its own files.
    paths.extend(sources.keys().filter(|other| other.starts_with(&format!("{module}::"))).cloned());
    let longest = |path: &String| {
        let mut path = path.trim_end_matches("::");
        while !sources.contains_key(path) {
            path = path.rsplit_once("::")?.0;
        }
        Some(path.to_owned())
    };
    paths.iter().filter_map(longest).filter(|other| other != module).collect()
}

/// The folder, or the file at the root, that a module lies in.
fn top(module: &str) -> &str {
    module.split("::").next().unwrap_or(module)
}

/// What breaks the rows: a module without a row, a row's name without a module, a use that is not of an earlier row.
fn violations(sources: &Sources) -> Vec<String> {
    let row = |name: &str| LAYERS.iter().position(|names| names.contains(&name));
    let tops: BTreeSet<&str> = sources.keys().map(|module| top(module)).collect();
    let mut found: Vec<String> = tops
        .iter()
        .filter(|name| row(name).is_none())
        .map(|name| format!("`{name}` has no row: give it one in LAYERS, below all that it uses"))
        .collect();
    let named = LAYERS.iter().copied().flatten();
    found.extend(
        named.filter(|name| !tops.contains(**name)).map(|name| format!("no module is called `{name}`")),
    );
    for module in sources.keys() {
        for other in uses(module, sources).iter().filter(|other| top(other) != top(module)) {
            if row(top(other)) >= row(top(module)) {
                found.push(format!("`{module}` uses `{other}`, which is not in an earlier row"));
            }
        }
    }
    found
}

/// Modules that use each other in a circle, if there are any: what is left when all that use nothing are taken away,
/// again and again.
fn circle(sources: &Sources) -> BTreeSet<String> {
    let mut left: BTreeMap<String, BTreeSet<String>> =
        sources.keys().map(|module| (module.clone(), uses(module, sources))).collect();
    loop {
        let free: BTreeSet<String> =
            left.iter().filter(|(_, uses)| uses.is_empty()).map(|(module, _)| module.clone()).collect();
        if free.is_empty() {
            return left.into_keys().collect();
        }
        left.retain(|module, _| !free.contains(module));
        left.values_mut().for_each(|uses| uses.retain(|other| !free.contains(other)));
    }
}

#[test]
fn imports_follow_the_layers() {
    let found = violations(&sources());
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn no_modules_use_each_other_in_a_circle() {
    let found = circle(&sources());
    assert!(found.is_empty(), "a circle among {found:?}");
}

/// The crate with another text in one of its modules.
fn with(module: &str, text: &str) -> Sources {
    let mut changed = sources();
    changed.insert(module.to_owned(), text.to_owned());
    changed
}

#[test]
fn a_wrong_import_is_found() {
    let n_violations = |module, text| violations(&with(module, text)).len();
    assert_eq!(
        n_violations("filter::kink", "use crate::path::Path;\nuse crate::{Result, noise::{Draws, Stream}};"),
        0
    );
    assert_eq!(
        n_violations("filter::kink", "// use crate::simulate::Sde;\n#[cfg(test)] use crate::simulate::Sde;"),
        0
    );
    assert_eq!(n_violations("filter::kink", "use crate::simulate::Sde;"), 1);
    assert_eq!(n_violations("filter::kink", "use crate::{Result, error::Error, simulate};"), 1);
    assert_eq!(n_violations("program::graph", "fn f(x: crate::regression::Sums) {}"), 1);
    assert_eq!(n_violations("filter", "fn f(x: super::simulate::Sde) {}"), 1);
    assert_eq!(n_violations("noise", "use crate::path::Path;"), 1);
    assert_eq!(n_violations("unheard_of", ""), 1);
    let mut without = sources();
    without.remove("path");
    assert_eq!(violations(&without), ["no module is called `path`"]);
}

#[test]
fn a_circle_is_found() {
    let found = |module, text| circle(&with(module, text));
    assert!(found("filter::small", "use super::kink::Kink;").is_empty());
    assert!(
        found("filter::visitor", "use super::{kink::Kink, engine::{BATCH, Engine}};")
            .contains("filter::visitor")
    );
    assert!(found("program::graph", "fn f() { super::parse::parse() }").contains("program::graph"));
    assert!(
        found("simulate::structure", "use crate::simulate::coefficients::Coefficients;")
            .contains("simulate::structure")
    );
    assert!(found("sampler::factor", "use super::ChainWork;").contains("sampler::factor"));
}

/// What callers see of a module: the heads of its public functions, types and fields.
fn public(text: &str) -> Vec<String> {
    let text = code(text);
    let word = |c: char| c.is_alphanumeric() || c == '_' || c == '(';
    text.match_indices("pub ")
        .filter(|(at, _)| !text[..*at].ends_with(word))
        .map(|(at, _)| {
            let rest = &text[at..];
            let ends: &[&str] = if rest.starts_with("pub fn") { &["{", ";"] } else { &["{", ";", ",\n"] };
            let end = ends.iter().filter_map(|end| rest.find(end)).min().unwrap_or(rest.len());
            rest[..end].to_owned()
        })
        .collect()
}

/// Types of the package that decompositions take.
const OTHERS: [&str; 5] = ["nalgebra", "DMatrix", "DVector", "Cholesky", "SymmetricEigen"];

fn of_another_package(text: &str) -> Vec<String> {
    public(text).into_iter().filter(|head| OTHERS.iter().any(|other| head.contains(other))).collect()
}

#[test]
fn callers_see_the_arrays_of_one_package() {
    for (module, text) in sources() {
        assert_eq!(of_another_package(&text), [""; 0], "in `{module}`");
    }
}

#[test]
fn an_array_of_another_package_is_found() {
    assert_eq!(of_another_package("pub fn f(x: f64,\n    m: &DMatrix<f64>) -> f64 { 1.0 }").len(), 1);
    assert_eq!(of_another_package("pub struct A {\n    pub m: nalgebra::DVector<f64>,\n}").len(), 1);
    assert_eq!(
        of_another_package("pub(crate) fn f(m: DMatrix<f64>) {}\nstruct A { m: DMatrix<f64> }").len(),
        0
    );
}
