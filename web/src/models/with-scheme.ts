//! Addresses of servers.

/** An address as people write it: a host alone is one of this network. */
export function withScheme(address: string): string {
  const written = address.trim();
  return written.includes("://") || /\s/.test(written) ? written : `http://${written}`;
}
