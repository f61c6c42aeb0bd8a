//! The launcher of the sandbox as a program of its own, for the tests of MCP servers in a box.

fn main() {
    neco_sandbox::launcher::become_launcher_if_asked();
}
