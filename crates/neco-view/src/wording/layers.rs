//! The parts of what a model is told, by the names that people know them by.

use neco_proto::Layer;

/// What people call a part.
pub fn name(layer: Layer) -> &'static str {
    match layer {
        Layer::Base => "base",
        Layer::Mode => "mode",
        Layer::Generation => "tool level",
        Layer::Role => "role",
        Layer::Environment => "environment",
        Layer::Rules => "rules",
        Layer::Skills => "skills",
        Layer::Agents => "agents",
        Layer::Memory => "memory",
        Layer::RepoMap => "repo map",
        Layer::Files => "files",
        Layer::Summary => "summary",
        Layer::Messages => "messages",
    }
}
