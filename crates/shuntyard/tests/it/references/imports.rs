//! Which file of a crate imports which, read from its text: `use` declarations and paths in the code. A name that a
//! module only re-exports (`pub use`) leads to the file that defines it, and `#[cfg(test)]` items do not count.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

pub type ModulePath = Vec<String>;

/// One file, as far as its imports are concerned.
#[derive(Default)]
struct Module {
    file: String,
    children: BTreeSet<String>,
    /// What is defined here, by name.
    items: BTreeSet<String>,
    /// Names of `use` declarations, with their paths.
    imports: BTreeMap<String, Vec<String>>,
    globs: Vec<Vec<String>>,
    /// Paths that this file needs something of.
    needs: Vec<Vec<String>>,
}

pub struct Imports {
    modules: BTreeMap<ModulePath, Module>,
}

impl Imports {
    /// Reads all files below a crate's `src` that belong to it.
    pub fn of_crate(source: &Path) -> Self {
        let mut all = BTreeMap::new();
        read_files(source, source, &mut all);
        let mut modules = BTreeMap::new();
        let mut open: Vec<ModulePath> = vec![Vec::new()];
        while let Some(path) = open.pop() {
            // A module without a file of its own is inside its parent.
            let Some(module) = all.remove(&path) else { continue };
            open.extend(module.children.iter().map(|child| [path.as_slice(), std::slice::from_ref(child)].concat()));
            modules.insert(path, module);
        }
        Self { modules }
    }

    pub fn len(&self) -> usize {
        self.modules.len()
    }

    pub fn file(&self, path: &ModulePath) -> &str {
        &self.modules[path].file
    }

    /// The files that each file imports from, apart from the file of its own parent module.
    pub fn edges(&self) -> BTreeMap<ModulePath, BTreeSet<ModulePath>> {
        let edges = self.modules.iter().map(|(path, module)| {
            let found = module.needs.iter().filter_map(|need| self.start(path, need)).map(|(base, rest)| {
                let parent = path.split_last().map(|(_, parent)| parent.to_vec());
                (self.defining_file(base, &rest, 0), parent)
            });
            let others = found.filter(|(target, parent)| target != path && Some(target) != parent.as_ref());
            (path.clone(), others.map(|(target, _)| target).collect())
        });
        edges.collect()
    }

    /// Where a path begins in this crate, and what follows; nothing for a path into another crate.
    fn start(&self, path: &ModulePath, need: &[String]) -> Option<(ModulePath, Vec<String>)> {
        let module = &self.modules[path];
        let (first, rest) = need.split_first()?;
        match first.as_str() {
            "crate" => Some((Vec::new(), rest.to_vec())),
            "self" => Some((path.clone(), rest.to_vec())),
            "super" => {
                let up = need.iter().take_while(|word| *word == "super").count();
                Some((path[..path.len().checked_sub(up)?].to_vec(), need[up..].to_vec()))
            }
            name if module.children.contains(name) => Some((path.clone(), need.to_vec())),
            name => {
                // A name that is imported from a crate of the same name leads out of this one.
                let import =
                    module.imports.get(name).filter(|import| import.first().is_some_and(|first| first != name))?;
                let (base, start) = self.start(path, import)?;
                Some((base, [start, rest.to_vec()].concat()))
            }
        }
    }

    /// Goes down from a module to the file that defines the item, through names that are only re-exported.
    fn defining_file(&self, base: ModulePath, rest: &[String], depth: usize) -> ModulePath {
        assert!(depth < 30, "{base:?}::{rest:?} leads to itself");
        let Some((first, after)) = rest.split_first() else { return base };
        let Some(module) = self.modules.get(&base) else { return base };
        let child = [base.as_slice(), std::slice::from_ref(first)].concat();
        if module.children.contains(first) && self.modules.contains_key(&child) {
            // A function may be named like its module; then the module's file defines both.
            return self.defining_file(child, after, depth + 1);
        }
        if module.items.contains(first) {
            return base;
        }
        if let Some(import) = module.imports.get(first)
            && let Some((target, start)) = self.start(&base, import)
        {
            return self.defining_file(target, &[start.as_slice(), after].concat(), depth + 1);
        }
        for glob in &module.globs {
            let Some((target, start)) = self.start(&base, glob) else { continue };
            let target = self.defining_file(target, &start, depth + 1);
            if let Some(found) = self.modules.get(&target)
                && (found.items.contains(first) || found.imports.contains_key(first))
            {
                return self.defining_file(target, rest, depth + 1);
            }
        }
        base
    }
}

/// Groups of files that import each other in a circle.
pub fn circles(edges: &BTreeMap<ModulePath, BTreeSet<ModulePath>>) -> Vec<Vec<&ModulePath>> {
    let paths: Vec<&ModulePath> = edges.keys().collect();
    let place = |path: &ModulePath| paths.binary_search(&path);
    let direct: Vec<Vec<usize>> =
        edges.values().map(|targets| targets.iter().filter_map(|target| place(target).ok()).collect()).collect();
    let reach = |from: usize| {
        let mut seen = vec![false; direct.len()];
        let mut open = direct[from].clone();
        while let Some(next) = open.pop() {
            if !std::mem::replace(&mut seen[next], true) {
                open.extend(&direct[next]);
            }
        }
        seen
    };
    let reached: Vec<Vec<bool>> = (0..direct.len()).map(reach).collect();
    let mut circles = Vec::new();
    for (from, there) in reached.iter().enumerate() {
        let circle: Vec<usize> = (0..direct.len()).filter(|to| there[*to] && reached[*to][from]).collect();
        // Reported once, by its first file.
        if circle.first() == Some(&from) {
            circles.push(circle.into_iter().map(|member| paths[member]).collect());
        }
    }
    circles
}

fn read_files(source: &Path, directory: &Path, all: &mut BTreeMap<ModulePath, Module>) {
    for entry in std::fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            read_files(source, &path, all);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let relative = path.strip_prefix(source).expect("below the sources").to_string_lossy().into_owned();
            let mut parts: ModulePath = relative.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
            if matches!(parts.last().map(String::as_str), Some("mod" | "lib")) {
                parts.pop();
            }
            let text = std::fs::read_to_string(&path).expect("a source file");
            all.insert(parts, Module { file: relative, ..read_module(&text) });
        }
    }
}

fn read_module(text: &str) -> Module {
    let words = without_tests(words(text));
    let mut module = Module::default();
    let mut passed_on = Vec::new();
    let mut used = BTreeSet::new();
    let mut at = 0;
    while at < words.len() {
        let word = words[at].as_str();
        let next = words.get(at + 1).map_or("", String::as_str);
        if word == "mod" && words.get(at + 2).is_some_and(|end| end == ";") {
            module.children.insert(next.to_owned());
            at += 3;
        } else if word == "use" && begins_item(&words, at) {
            let is_public = at > 0 && matches!(words[at - 1].as_str(), "pub" | ")");
            let mut leaves = Vec::new();
            at = read_tree(&words, at + 1, &[], &mut leaves);
            for (path, name) in leaves {
                match &name {
                    Some(name) if is_public => passed_on.push((path.clone(), name.clone())),
                    Some(_) | None => module.needs.push(path.clone()),
                }
                if let Some(name) = name {
                    module.imports.insert(name, path);
                } else {
                    module.globs.push(path);
                }
            }
        } else if is_name(word) && next == "::" && (at == 0 || words[at - 1] != "::") {
            let begin = at;
            let mut path = vec![word.to_owned()];
            while words.get(at + 1).is_some_and(|word| word == "::")
                && words.get(at + 2).is_some_and(|word| is_name(word))
            {
                path.push(words[at + 2].clone());
                at += 2;
            }
            used.insert(word.to_owned());
            // `pub(in path)` restricts visibility, and needs nothing.
            if begin == 0 || words[begin - 1] != "in" {
                module.needs.push(path);
            }
            at += 1;
        } else {
            const DEFINES: [&str; 9] = ["fn", "struct", "enum", "trait", "type", "const", "static", "mod", "union"];
            if DEFINES.contains(&word) && is_name(next) {
                module.items.insert(next.to_owned());
            }
            used.insert(word.to_owned());
            at += 1;
        }
    }
    // A name that is re-exported and used here as well is needed here.
    module.needs.extend(passed_on.into_iter().filter(|(_, name)| used.contains(name)).map(|(path, _)| path));
    module
}

fn begins_item(words: &[String], at: usize) -> bool {
    at == 0 || matches!(words[at - 1].as_str(), ";" | "}" | "{" | "]" | ")" | "pub")
}

fn is_name(word: &str) -> bool {
    word.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// Reads one tree of a `use` declaration: each path with the name that it gets here, or none for all that is there.
fn read_tree(
    words: &[String],
    mut at: usize,
    prefix: &[String],
    out: &mut Vec<(Vec<String>, Option<String>)>,
) -> usize {
    let mut path = prefix.to_vec();
    loop {
        match words[at].as_str() {
            "::" => at += 1,
            "{" => {
                at += 1;
                while words[at] != "}" {
                    at = read_tree(words, at, &path, out);
                    at += usize::from(words[at] == ",");
                }
                return at + 1;
            }
            "*" => {
                out.push((path, None));
                return at + 1;
            }
            name => {
                path.push(name.to_owned());
                at += 1;
                if words[at] == "::" {
                    continue;
                }
                if name == "self" && path.len() > 1 {
                    path.pop();
                }
                let mut alias = path.last().cloned().unwrap_or_default();
                if words[at] == "as" {
                    alias.clone_from(&words[at + 1]);
                    at += 2;
                }
                out.push((path, Some(alias)));
                return at;
            }
        }
    }
}

/// Leaves out items behind `#[cfg(test)]`.
fn without_tests(words: Vec<String>) -> Vec<String> {
    const MARK: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let mut kept = Vec::with_capacity(words.len());
    let mut at = 0;
    while at < words.len() {
        if !words[at..].iter().map(String::as_str).take(MARK.len()).eq(MARK) {
            kept.push(words[at].clone());
            at += 1;
            continue;
        }
        at += MARK.len();
        let mut depth = 0;
        while at < words.len() {
            let word = words[at].as_str();
            at += 1;
            match word {
                "{" | "(" | "[" => depth += 1,
                "}" | ")" | "]" => depth -= 1,
                _ => {}
            }
            if depth == 0 && matches!(word, "}" | ";") {
                break;
            }
        }
    }
    kept
}

/// Names and signs, without comments and literals.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if let Some(raw) = raw_string(rest) {
            raw
        } else if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if first == '"' {
            string_end(rest)
        } else if let Some(literal) = character(rest) {
            literal
        } else if is_name(rest) {
            let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            words.push(rest[..length].to_owned());
            length
        } else if rest.starts_with("::") {
            words.push("::".to_owned());
            2
        } else {
            if !first.is_whitespace() {
                words.push(first.to_string());
            }
            first.len_utf8()
        };
        rest = &rest[length..];
    }
    words
}

/// The length of a raw string that begins here.
fn raw_string(text: &str) -> Option<usize> {
    let inside = text.strip_prefix("br").or_else(|| text.strip_prefix('r'))?;
    let marks = inside.len() - inside.trim_start_matches('#').len();
    let body = inside[marks..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(marks));
    body.find(&end).map(|at| text.len() - body.len() + at + end.len())
}

fn string_end(text: &str) -> usize {
    let mut escaped = false;
    let end = text.char_indices().skip(1).find(|(_, c)| {
        let ends = *c == '"' && !escaped;
        escaped = *c == '\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |(at, _)| at + 1)
}

/// The length of a character literal that begins here; a lifetime is none.
fn character(text: &str) -> Option<usize> {
    let inside = text.strip_prefix('\'')?;
    let mut letters = inside.char_indices();
    let (_, first) = letters.next()?;
    let (at, _) = if first == '\\' {
        letters.next()?;
        letters.find(|(_, c)| *c == '\'')?
    } else {
        letters.next().filter(|(_, c)| *c == '\'')?
    };
    Some(1 + at + 1)
}

#[test]
fn circles_are_found_through_names_that_are_passed_on() {
    let scratch = shuntyard_testkit::Scratch::of_test();
    let write = |name: &str, text: &str| {
        let path = scratch.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        std::fs::write(path, text).expect("a file");
    };
    write("lib.rs", "pub mod a; pub mod b; pub mod c; // use crate::b::Nothing;");
    write("a/mod.rs", "mod inner; pub use inner::Inner; pub struct Outer; #[cfg(test)] mod tests { use crate::c::C; }");
    write("a/inner.rs", "use super::Outer; use crate::b::{self, B}; pub struct Inner(B, Outer, &'static str);");
    write("b.rs", "pub struct B; pub fn make() { let _ = (crate::a::Inner, 'x', \"crate::c::C\"); }");
    write("c.rs", "use crate::{a::Outer as Other, b}; pub fn take(_: Other) { b::make() }");
    let imports = Imports::of_crate(scratch.path());
    let edges = imports.edges();
    let name = |path: &ModulePath| imports.file(path).to_owned();
    let found: Vec<Vec<String>> =
        circles(&edges).into_iter().map(|circle| circle.into_iter().map(name).collect()).collect();
    assert_eq!(found, [["a/inner.rs", "b.rs"]]);
    let of_c: Vec<String> = edges[&vec!["c".to_owned()]].iter().map(name).collect();
    assert_eq!(of_c, ["a/mod.rs", "b.rs"]);
}
