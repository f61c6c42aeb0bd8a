//! What was used: tokens, money, cache.

export { UsagePage } from "./usage-page";
