//! Settings: what holds, who decided it, and what is plugged in.

export { SettingsPage } from "./settings-page";
