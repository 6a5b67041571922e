//! Tables for what is read and found wrong, and properties for what must survive any text.

mod checking;
mod handing_over;
mod manifests;
mod naming;
mod pipelines;
mod properties;
mod reading;
mod standings;

use super::*;

/// A spec that has nothing wrong with it.
pub(super) const GOOD: &str = "\
# Export as CSV

## Source Artifacts

None

## Scope

`export` writes CSV.

## Execution

- test-writer
- implementer
- documentation

## Non-Goals

None.

## Testable Acceptance Criteria

- A comma in a value is quoted.

### Test File Paths

- `tests/export.rs`

## Inspectable Acceptance Criteria

None

## Relevant Files

- src/export.rs

## Validation Plan

```sh
## not a heading
cargo test
```

## Open Questions

None
";

/// The good spec with something else in it.
#[track_caller]
pub(super) fn with(old: &str, new: &str) -> String {
    assert!(GOOD.contains(old), "{old}");
    GOOD.replacen(old, new, 1)
}

/// Line, rule and message of each fault.
pub(super) fn told(faults: &[Fault]) -> Vec<String> {
    let told = faults.iter().map(|fault| {
        assert!(!fault.hint.is_empty(), "{fault:?}");
        format!("{}: {}: {}", fault.line, fault.rule.as_str(), fault.message)
    });
    told.collect()
}

pub(super) fn faults(text: &str) -> Vec<String> {
    told(&check_spec(&Spec::parse(text), Place::Task { children: &[] }))
}
