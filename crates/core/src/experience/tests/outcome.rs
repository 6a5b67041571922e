//! What follows about a model from each way to fail.

use super::*;
use crate::ErrorClass::{self, *};

#[test]
fn every_class_has_its_mode() {
    use FailureMode::{Environment, Logic, Resource, Transient};
    let table = [
        (Some(Environment), vec![AuthMissing, AuthInvalid, ModelNotFound, ProviderNotConnected, PermissionWaiting]),
        (Some(Environment), vec![OpencodeMissing, OpencodeUnhealthy]),
        (Some(Transient), vec![RateLimited, Overloaded, ServerError, Network]),
        (Some(Resource), vec![QuotaExhausted, BudgetRefused]),
        (Some(Logic), vec![EmptyResponse, Truncated, ContentFiltered, ContextOverflow]),
        (Some(Logic), vec![StructuredOutputFailed, CapabilityMissing]),
        (None, vec![Cancelled]),
    ];
    let mut seen = vec![Timeout];
    for (expected, classes) in table {
        for class in classes {
            for deadline in [Deadline::Silence, Deadline::Whole] {
                assert_eq!(FailureMode::of(class, deadline), expected, "{class} {deadline:?}");
            }
            seen.push(class);
        }
    }
    assert_eq!(FailureMode::of(Timeout, Deadline::Silence), Some(Transient));
    assert_eq!(FailureMode::of(Timeout, Deadline::Whole), Some(Logic));
    seen.sort_unstable();
    let mut all = ErrorClass::ALL;
    all.sort_unstable();
    assert_eq!(seen, all, "each class is in the table once");
}

#[test]
fn only_what_the_model_did_counts() {
    for (mode, counts) in [
        (FailureMode::Transient, false),
        (FailureMode::Resource, false),
        (FailureMode::Environment, false),
        (FailureMode::Logic, true),
        (FailureMode::Blocked, true),
        (FailureMode::Ambiguous, true),
    ] {
        assert_eq!(mode.counts(), counts, "{mode}");
    }
}

#[test]
fn names_are_read_as_they_are_written() {
    for mode in FailureMode::ALL {
        assert_eq!(FailureMode::parse(mode.as_str()), Some(mode));
        assert_eq!(serde_json::to_value(mode).unwrap(), mode.as_str());
    }
    for evidence in Evidence::ALL {
        assert_eq!(Evidence::parse(evidence.as_str()), Some(evidence));
        assert_eq!(serde_json::to_value(evidence).unwrap(), evidence.as_str());
    }
    for text in ["", "logical", "LOGIC ", "Answered", "proof"] {
        assert_eq!((FailureMode::parse(text), Evidence::parse(text)), (None, None), "{text}");
    }
}

#[test]
fn an_answer_alone_proves_nothing() {
    let proofs: Vec<Evidence> = Evidence::ALL.into_iter().filter(|evidence| evidence.is_proof()).collect();
    assert_eq!(proofs, [Evidence::Reported, Evidence::Judged, Evidence::Verified]);
}
