//! What this program is when it is not Neco: the launcher of a command in a sandbox.

/// Becomes the launcher if this process was started as one, and never returns then. First of all in
/// `main`: a launcher has no settings, no threads and no time.
pub fn become_launcher_if_asked() {
    neco_sandbox::launcher::become_launcher_if_asked();
}
