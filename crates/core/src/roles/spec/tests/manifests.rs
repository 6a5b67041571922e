//! Tables of units: what is wrong with them, and which units may run at the same time.

use super::*;

fn manifest(rows: &str) -> String {
    format!(
        "# T\n## Source Artifacts\nNone\n## Scope\nAll\n## Non-Goals\nNone\n## Open Questions\nNone\n## Units\n\
         | Unit | Files | Depends On | Parallel |\n|---|:--|---|---|\n{rows}"
    )
}

fn children(names: &[&str]) -> Vec<Child> {
    names.iter().map(|name| Child { name: (*name).to_owned(), has_spec: true }).collect()
}

fn found(rows: &str, names: &[&str]) -> Vec<String> {
    told(&check_spec(&Spec::parse(&manifest(rows)), Place::Task { children: &children(names) }))
}

fn order(rows: &str) -> Result<String, NoOrder> {
    let spec = Spec::parse(&manifest(rows));
    let waves = waves(&spec.units().unwrap().units)?;
    Ok(waves.iter().map(|wave| wave.join(" ")).collect::<Vec<_>>().join(" / "))
}

#[test]
fn a_row_is_read_in_all_the_ways_that_people_write_it() {
    let spec = Spec::parse(&manifest(
        "| `01-parser` | `src/a.rs`, `src/b c.rs` | None | yes |\n| **writer** | src/c.rs<br>docs/ | 01-parser, `x` | No\n\
         a \\| b | – | - | perhaps |\n\nnot | a row\n",
    ));
    let units = &spec.units().unwrap().units;
    let unit = |line, name: &str, number, files: &[&str], depends_on: &[&str], parallel| Unit {
        line,
        name: name.to_owned(),
        number,
        files: files.iter().map(|file| (*file).to_owned()).collect(),
        depends_on: depends_on.iter().map(|file| (*file).to_owned()).collect(),
        parallel,
    };
    assert_eq!(units[0], unit(13, "parser", Some(1), &["src/a.rs", "src/b c.rs"], &[], Parallel::Yes));
    assert_eq!(units[1].files, ["src/c.rs", "docs/"]);
    assert_eq!((units[1].name.as_str(), &units[1].parallel), ("writer", &Parallel::No));
    assert_eq!(units[2], unit(15, "a | b", None, &[], &[], Parallel::Unclear("perhaps".to_owned())));
}

#[test]
fn columns_may_stand_in_any_order_with_others_between() {
    let text = "## Units\n| Parallel | Why | depends on | Files | Unit |\n| - | - | - | - | - |\n| yes | it | b | a.rs | a |\n";
    let spec = Spec::parse(text);
    let unit = &spec.units().unwrap().units[0];
    assert_eq!((unit.name.as_str(), unit.depends_on.as_slice()), ("a", &["b".to_owned()][..]));
}

#[test]
fn each_fault_of_a_table_is_told() {
    let table: &[(&str, &[&str], &[&str])] = &[
        ("|a|a.rs|None|yes|\n|b|b.rs|a|no|", &["01-a", "02-b"], &[]),
        ("|02-a|a.rs|None|yes|", &["02-a"], &[]),
        (
            "|02-a|a.rs|None|yes|",
            &["01-a"],
            &[
                "1: unit-directory-unlisted: the directory 01-a is not in the table of units, so it would never run",
                "13: unit-directory-missing: a has no directory",
            ],
        ),
        (
            "|a|a.rs||yes|",
            &["01-a", "02-a", "notes", "03-b"],
            &[
                "1: unit-directory-unlisted: the directory notes is not in the table of units, so it would never run",
                "1: unit-directory-unlisted: the directory 03-b is not in the table of units, so it would never run",
                "13: unit-directory-twice: a has two directories: 01-a and 02-a",
            ],
        ),
        ("|A b|a.rs||yes|", &[], &["13: unit-name: `A b` is no name for a task or a unit"]),
        ("||a.rs||yes|", &[], &["13: unit-name: a unit has no name"]),
        (
            "|a|||often|",
            &["01-a"],
            &["13: unit-parallel: Parallel is yes or no, and not `often`", "13: unit-file: a names no files"],
        ),
        (
            "|a|../a, src/*.rs||no|",
            &["01-a"],
            &[
                "13: unit-file: the file `../a` leads out of the repository",
                "13: unit-file: `src/*.rs` is a pattern, of which nobody can tell what else it touches",
            ],
        ),
        ("|a|a.rs||yes|\n|a|b.rs||yes|", &["01-a"], &["14: unit-twice: the unit a is already on line 13"]),
        (
            "|a|a.rs|bb, c|yes|\n|b|b.rs||yes|",
            &["01-a", "02-b"],
            &[
                "13: unit-dependency: a depends on `bb`, which is no unit",
                "13: unit-dependency: a depends on `c`, which is no unit",
            ],
        ),
        ("|a|a.rs|a|yes|", &["01-a"], &["13: unit-cycle: a waits for itself"]),
        (
            "|z|z.rs|b|yes|\n|a|a.rs|b|yes|\n|b|b.rs|c|yes|\n|c|c.rs|a|yes|",
            &["01-a", "02-b", "03-c", "04-z"],
            &["14: unit-cycle: units wait for each other: a → b → c → a"],
        ),
        (
            "|a|src/x.rs||yes|\n|b|./src||yes|",
            &["01-a", "02-b"],
            &["14: unit-files-shared: a and b may run at the same time and both touch `src`"],
        ),
        ("|a|src/x.rs||yes|\n|b|src/x.rs||no|", &["01-a", "02-b"], &[]),
        ("|a|x.rs||yes|\n|b|y.rs|a|yes|\n|c|x.rs|b|yes|", &["01-a", "02-b", "03-c"], &[]),
        ("|a|src/x||yes|\n|b|src/xy||yes|", &["01-a", "02-b"], &[]),
        ("", &[], &["10: unit-table: the table has no units, so nothing would run"]),
    ];
    for (rows, names, wanted) in table {
        assert_eq!(found(rows, names), *wanted, "{rows}");
    }
}

#[test]
fn a_manifest_is_no_spec_and_a_spec_no_manifest() {
    let text = manifest("|a|a.rs||yes|");
    let spec = Spec::parse(&format!("{text}\n## Execution\n- implementer\n"));
    let children = children(&["01-a"]);
    let place = Place::Task { children: &children };
    assert_eq!(
        told(&check_spec(&spec, place)),
        ["14: execution-in-manifest: a spec with units runs nothing itself; its units do"]
    );
    assert_eq!(
        told(&check_spec(&Spec::parse(&text), Place::Unit)),
        ["10: units-nested: a unit has no units of its own"]
    );
    assert_eq!(told(&check_spec(&Spec::parse(&text), Place::Alone)), [""; 0]);
    assert_eq!(
        told(&check_spec(&Spec::parse(GOOD), place)),
        ["1: unit-directory-unlisted: the directory 01-a is not in the table of units, so it would never run"]
    );
    let hollow =
        [Child { name: "01-a".to_owned(), has_spec: false }, Child { name: "logs".to_owned(), has_spec: false }];
    assert_eq!(
        told(&check_spec(&Spec::parse(&text), Place::Task { children: &hollow })),
        ["13: unit-directory-missing: 01-a has no task-spec.md"]
    );
    let no_table = text.split("| Unit").next().unwrap().to_owned();
    assert_eq!(told(&check_spec(&Spec::parse(&no_table), Place::Alone)), ["10: unit-table: Units has no table"]);
    let short = text.replace("| Parallel |", "| Beside |");
    assert_eq!(
        told(&check_spec(&Spec::parse(&short), Place::Alone)),
        ["10: unit-table: the table has no column Parallel"]
    );
    let twice = format!("{text}\n## Units\n");
    assert_eq!(
        told(&check_spec(&Spec::parse(&twice), Place::Alone)),
        ["14: section-twice: Units is there again; it began on line 10"]
    );
}

#[test]
fn a_hundred_units_are_too_many() {
    let rows: String = (0..100).map(|number| format!("|u{number}|f{number}||yes|\n")).collect();
    let spec = Spec::parse(&manifest(&rows));
    let told = told(&check_spec(&spec, Place::Alone));
    assert_eq!(told, ["10: unit-table: the table has 100 units; 99 is the most"]);
    assert_eq!(waves(&spec.units().unwrap().units), Err(NoOrder::TooMany(100)));
}

#[test]
fn waves_keep_to_dependencies_files_and_the_wish_to_be_alone() {
    let table = [
        ("|a|a||yes|\n|b|b||yes|\n|c|c|a,b|yes|", "a b / c"),
        ("|a|a||no|\n|b|b||yes|\n|c|c||yes|", "a / b c"),
        ("|a|a||yes|\n|b|b||no|\n|c|c||yes|", "a c / b"),
        ("|a|x||yes|\n|b|x||yes|\n|c|c||yes|", "a c / b"),
        ("|a|x|b|yes|\n|b|x|c|yes|\n|c|x||yes|", "c / b / a"),
        ("|a|a||later|\n|b|b||yes|", "a / b"),
        ("", ""),
    ];
    for (rows, wanted) in table {
        assert_eq!(order(rows).unwrap(), wanted, "{rows}");
    }
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    assert_eq!(order("|a|a|b|yes|\n|b|b|a|yes|"), Err(NoOrder::Cycle(names(&["a", "b"]))));
    assert_eq!(order("|a|a||yes|\n|a|b||yes|"), Err(NoOrder::Twice("a".to_owned())));
    let unknown = order("|a|a|b|yes|").unwrap_err();
    assert_eq!(unknown.to_string(), "a depends on b, which is no unit");
}
