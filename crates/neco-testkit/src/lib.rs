//! Scenarios and scripted worlds for tests.
