//! Every scenario as the window shows it: recorded logs in, what has left for the scrollback and the last frame out.

mod support;

use std::fs;
use std::path::Path;

use neco_proto::Event;
use support::Scene;

#[test]
fn a_session_is_drawn_as_it_was() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/view");
    let mut paths: Vec<_> = fs::read_dir(fixtures.join("logs")).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(fixtures.join("frames"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    for path in paths {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).unwrap();
        let mut scene = Scene::new((80, 24));
        let events: Vec<Event> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        scene.app.set_root(events[0].agent_id);
        for event in &events {
            scene.app.event(event);
            // The folder of a recording says nothing.
            scene.app.transcript.view.standing.cwd.clear();
            scene.picture();
        }
        let picture = scene.picture();
        settings.bind(|| insta::assert_snapshot!(name, picture));
    }
}
