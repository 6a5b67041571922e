use super::*;
use crate::values::WorkflowStep;

const MOST_CARRIED: usize = 30;

fn step(name: &str, unless: Option<&str>) -> WorkflowStep {
    WorkflowStep {
        name: name.into(),
        profile: "coder".into(),
        prompt: format!("Do {name}."),
        model: None,
        judges: name == "review",
        unless_approved_by: unless.map(str::to_owned),
    }
}

fn said(name: &str, text: &str, approved: Option<bool>) -> StepDone {
    StepDone { name: name.into(), text: Some(text.into()), approved, model: None, warnings: Vec::new() }
}

#[test]
fn each_step_is_told_the_task_and_what_came_before() {
    let steps = [step("plan", None), step("build", None)];
    let first = advance(&steps, &[], " the task ", MOST_CARRIED);
    assert_eq!(first, Advance::Run { index: 0, prompt: "Do plan.\n\n# Task\n\nthe task".into(), warnings: Vec::new() });
    let second = advance(&steps, &[said("plan", "one, two", None)], "the task", MOST_CARRIED);
    let prompt = "Do build.\n\n# Task\n\nthe task\n\n# What the steps before this one said\n\n## plan\n\none, two";
    assert_eq!(second, Advance::Run { index: 1, prompt: prompt.into(), warnings: Vec::new() });
    let both = [said("plan", "x", None), said("build", "y", None)];
    assert_eq!(advance(&steps, &both, "the task", MOST_CARRIED), Advance::Done);
}

#[test]
fn a_fix_is_needed_unless_the_review_approved() {
    let steps = [step("review", None), step("fix", Some("review"))];
    let skipped = advance(&steps, &[said("review", "good", Some(true))], "t", MOST_CARRIED);
    assert_eq!(skipped, Advance::Skip { index: 1, reason: "review found the work good".into() });
    for approved in [Some(false), None] {
        let next = advance(&steps, &[said("review", "hm", approved)], "t", MOST_CARRIED);
        assert!(matches!(next, Advance::Run { index: 1, .. }), "{approved:?}: {next:?}");
    }
}

#[test]
fn the_oldest_is_cut_first_and_it_is_said() {
    let done = [said("a", &"x".repeat(40), None), said("b", &"y".repeat(25), None)];
    let carried = carry(&done, 30);
    assert_eq!(carried.cut, 35);
    assert_eq!(carried.text, format!("## a\n\nxxxxx\n[cut here]\n\n## b\n\n{}", "y".repeat(25)));
    let steps = [step("a", None), step("b", None), step("c", None)];
    let Advance::Run { warnings, .. } = advance(&steps, &done, "t", MOST_CARRIED) else { panic!("it runs") };
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].contains("35 characters"), "{warnings:?}");
}

#[test]
fn characters_are_never_split_and_no_step_is_carried_as_nothing() {
    let carried = carry(&[said("a", "äöü", None), said("b", "日本語", None)], 4);
    assert_eq!(carried.text, "## a\n\nä\n[cut here]\n\n## b\n\n日本語");
    let skipped = StepDone { name: "s".into(), text: None, approved: None, model: None, warnings: Vec::new() };
    assert_eq!(carry(&[skipped], 10), Carry::default());
    assert_eq!(carry(&[said("a", "abc", None)], 0), Carry { text: String::new(), cut: 3 });
}
