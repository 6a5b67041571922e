//! Having findings fixed: one agent works in the directory, and its prompt contains the findings.

use crate::{
    Context,
    base::refusal::Refusal,
    dispatch::{DispatchReport, Options, dispatch},
};
use shuntyard_agents::opencode::Sink;
use shuntyard_core::{
    compare::{Part, consensus::Finding, fence},
    routing::request::{Request, Selector},
    values::Mode,
};
use std::path::Path;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// The kind of task that fixing is, whichever agent does it: that of a change to code, and not of a review.
pub const KIND: &str = "complex-fix";

/// Sends an agent to fix the findings. It changes files and commits nothing.
pub async fn fix(
    context: &Context,
    findings: &[Finding],
    directory: &Path,
    model: Selector,
    options: &Options,
    sink: &Sink,
    cancel: &CancellationToken,
) -> Result<DispatchReport, Refusal> {
    let listed = listed(findings);
    let request = Request::plain(prompt(&listed), model, Mode::Agent, directory);
    let (task_type, subject) = (Some(KIND.to_owned()), Some(format!("Fix what a review found: {listed}")));
    let options = Options { task_type, subject, ..options.clone() };
    dispatch(context, &request, &options, sink, cancel).await
}

fn listed(findings: &[Finding]) -> String {
    let lines: Vec<String> = findings
        .iter()
        .map(|finding| {
            let place = match (&finding.file, finding.line) {
                (Some(file), Some(line)) => format!("{file}:{line}: "),
                (Some(file), None) => format!("{file}: "),
                (None, _) => String::new(),
            };
            let severity = serde_json::to_value(finding.severity).unwrap_or_default();
            format!("- [{}] {place}{}", severity.as_str().unwrap_or_default(), finding.text)
        })
        .collect();
    lines.join("\n")
}

/// The findings are words of other models, so they are fenced.
fn prompt(listed: &str) -> String {
    let fenced = fence(Uuid::new_v4().as_u64_pair().0, &[Part::new("findings", listed)]);
    format!(
        "Reviewers have looked at the changes in this directory and found the following.\n\n{rule}\n\n{blocks}\n\n\
         Mend each finding that is true, with the smallest change that does it, and leave everything else as it is. \
         Where a finding is wrong, change nothing for it. Do not commit. In the end say in a few sentences what you \
         changed for which finding, and which ones you hold to be wrong and why.",
        rule = fenced.rule(),
        blocks = fenced.blocks.join("\n\n"),
    )
}
