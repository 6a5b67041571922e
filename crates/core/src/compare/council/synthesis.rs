//! The result of a council: one answer, and the members that dissent, each with its position.
//!
//! Every member that answered is either among the supporters or among the dissenters, once. A synthesis that loses
//! a member is invalid.

use super::{CouncilTask, Round, RoundPrompt, prompt::earlier_parts, standing};
use crate::compare::{
    Fault, Label, Part, fence,
    reading::{Faults, Reading},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const MOST_ANSWER: usize = 20_000;
const MOST_POSITION: usize = 1000;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct Synthesis {
    pub answer: String,
    pub supported_by: Vec<Label>,
    pub dissent: Vec<Dissent>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct Dissent {
    pub label: Label,
    pub position: String,
}

/// Asks for the synthesis of these rounds.
#[must_use]
pub fn synthesis_prompt(task: &CouncilTask<'_>, rounds: &[Round], seed: u64) -> RoundPrompt {
    let (said, trimmed) = earlier_parts(task, rounds, None);
    let mut parts = vec![Part::new("question", task.question)];
    parts.extend(said);
    let fenced = fence(seed, &parts);
    let heard = heard(rounds);
    let listed = |labels: &[Label]| labels.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let told = match standing(rounds) {
        Some(standing) if standing.is_agreement() => {
            format!("By their own word {} share the position of {}.", listed(&standing.supporters), standing.holder)
        }
        Some(_) | None => "By their own word they have not agreed on one position.".to_owned(),
    };
    let text = format!(
        "A council has answered one question. Put together what it came to. Who the members are is not told.\n\n\
         {rule}\n\n\
         {blocks}\n\n\
         {told} Being many is no proof: where the minority has the better reasons, say so in `answer`. Do not blend \
         positions that exclude each other, and do not smooth over what is open.\n\n\
         Answer with one JSON object: `answer` is the answer to the question with its reasons; `supported_by` are the \
         labels of those that share it; `dissent` has for each of the others its `label` and its `position`, told as \
         strongly as its author did. Each of {labels} is in exactly one of the two.",
        rule = fenced.rule(),
        blocks = fenced.blocks.join("\n\n"),
        labels = listed(&heard),
    );
    RoundPrompt { text, schema: synthesis_schema(&heard), trimmed }
}

/// The form of a synthesis over the members that answered.
#[must_use]
pub fn synthesis_schema(heard: &[Label]) -> Value {
    let labels: Vec<String> = heard.iter().map(ToString::to_string).collect();
    let label = if labels.is_empty() { json!({"type": "string"}) } else { json!({"type": "string", "enum": labels}) };
    json!({
        "type": "object",
        "properties": {
            "answer": {"type": "string"},
            "supported_by": {"type": "array", "items": label, "maxItems": labels.len()},
            "dissent": {
                "type": "array",
                "maxItems": labels.len(),
                "items": {
                    "type": "object",
                    "properties": {"label": label, "position": {"type": "string"}},
                    "required": ["label", "position"],
                    "additionalProperties": false,
                },
            },
        },
        "required": ["answer", "supported_by", "dissent"],
        "additionalProperties": false,
    })
}

/// Reads a synthesis of these rounds.
pub fn parse_synthesis(value: &Value, rounds: &[Round]) -> Result<Synthesis, Vec<Fault>> {
    let heard = heard(rounds);
    let mut faults = Faults::default();
    let root = Reading::root(value);
    let answer = root.field("answer", &mut faults).and_then(|field| field.text(MOST_ANSWER, &mut faults));
    let supported_by = root.field("supported_by", &mut faults).and_then(|field| field.labels(&heard, &mut faults));
    let items = root.field("dissent", &mut faults).and_then(|field| field.items(Label::MOST, &mut faults));
    let dissent: Option<Vec<Dissent>> =
        items.and_then(|items| items.iter().map(|item| dissent(item, &heard, &mut faults)).collect());
    if let (Some(supported_by), Some(dissent)) = (&supported_by, &dissent) {
        let mut named: BTreeSet<Label> = supported_by.iter().copied().collect();
        for Dissent { label, .. } in dissent {
            if !named.insert(*label) {
                faults.add(Fault::DuplicateLabel { place: "dissent".to_owned(), label: label.to_string() });
            }
        }
        for label in heard.iter().filter(|label| !named.contains(label)) {
            faults.add(Fault::MissingLabel { place: "dissent".to_owned(), label: label.to_string() });
        }
    }
    let whole = (|| Some(Synthesis { answer: answer?, supported_by: supported_by?, dissent: dissent? }))();
    faults.judge(whole)
}

fn dissent(item: &Reading<'_>, heard: &[Label], faults: &mut Faults) -> Option<Dissent> {
    let label = item.field("label", faults)?.label(heard, faults)?;
    let position = item.field("position", faults)?.text(MOST_POSITION, faults)?;
    Some(Dissent { label, position })
}

fn heard(rounds: &[Round]) -> Vec<Label> {
    let labels: BTreeSet<Label> = rounds.iter().flat_map(|round| round.given().map(|(label, _)| label)).collect();
    labels.into_iter().collect()
}
