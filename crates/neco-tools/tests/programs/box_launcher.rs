//! The launcher of the sandbox as a program of its own, for the tests of the shell tools.

fn main() {
    neco_sandbox::launcher::become_launcher_if_asked();
}
