//! The layers inside `engine` and `core`: no file is in a circle of imports, and none imports from a layer above its
//! own. A layer is a directory below `src`.

use super::{
    imports::{Imports, ModulePath, circles},
    root,
};

/// From the bottom to the top.
const LAYERS: [(&str, &[&str]); 2] = [
    (
        "core",
        &[
            "words",
            "values",
            "settings",
            "compare",
            "routing",
            "limits",
            "experience",
            "work",
            "todo",
            "roles",
            "check",
        ],
    ),
    ("engine", &["base", "servers", "routing", "dispatch", "fanout", "queue", "roles", "ops"]),
];

fn imports_of(name: &str) -> Imports {
    let imports = Imports::of_crate(&root().join("crates").join(name).join("src"));
    assert!(imports.len() > 100, "only {} files of {name} were found", imports.len());
    imports
}

#[test]
fn no_file_is_in_a_circle_of_imports() {
    for (name, _) in LAYERS {
        let imports = imports_of(name);
        let edges = imports.edges();
        assert!(edges.values().flatten().count() > 300, "the imports of {name} were not read");
        let file = |path: &ModulePath| imports.file(path).to_owned();
        let circles = circles(&edges).into_iter().map(|circle| circle.into_iter().map(file).collect());
        let circles: Vec<Vec<String>> = circles.collect();
        assert!(circles.is_empty(), "these files of {name} import each other in a circle: {circles:#?}");
    }
}

#[test]
fn imports_lead_to_the_same_layer_or_one_below() {
    for (name, layers) in LAYERS {
        let imports = imports_of(name);
        let place = |path: &ModulePath| {
            let layer = path.first()?;
            let found = layers.iter().position(|known| known == layer);
            Some(found.unwrap_or_else(|| panic!("crates/{name}/src/{layer} has no place in the order of layers")))
        };
        for (path, targets) in imports.edges() {
            // The root of the crate belongs to no layer.
            let Some(own) = place(&path) else { continue };
            for target in targets {
                let (from, to) = (imports.file(&path), imports.file(&target));
                assert!(place(&target).is_none_or(|other| other <= own), "{name}: {from} imports {to}, a layer above");
            }
        }
    }
}
