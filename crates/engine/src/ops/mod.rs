//! Looking after an installation: doctor, demo, conformance and services.

pub mod conformance;
pub mod demo;
pub mod doctor;
pub mod service;
