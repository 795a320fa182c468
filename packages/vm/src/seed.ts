/** The data for a guest's first boot (cloud-init's NoCloud). */
export interface Seed {
  /** Its host name. Default: derived from its id. */
  readonly hostname?: string
  /** Public keys that may log in. */
  readonly sshKeys?: readonly string[]
  /** A cloud-init document from the caller; it replaces the keys. */
  readonly userData?: string
}

const USER_DATA_BYTES_MAX = 512 * 1024
// One line, so that a key cannot inject lines into the document.
const SSH_KEY =
  /^(ssh-(ed25519|rsa)|ecdsa-sha2-nistp\d+|sk-[a-z0-9@.-]+) [A-Za-z0-9+/=]{16,}( [^\p{Cc}]*)?$/u
// One label of a DNS name (RFC 1123, 2.1).
const HOSTNAME = /^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/

export function whyNotSeed({ hostname, sshKeys = [], userData }: Seed): string | undefined {
  if (hostname !== undefined && !HOSTNAME.test(hostname)) {
    return 'a host name must have 1 to 63 letters, digits and hyphens, and no hyphen at its start or end'
  }
  if (userData !== undefined && sshKeys.length > 0) {
    return 'give sshKeys or userData, not both: put the keys into the document'
  }
  if (userData !== undefined && new TextEncoder().encode(userData).length > USER_DATA_BYTES_MAX) {
    return `userData must have at most ${USER_DATA_BYTES_MAX} bytes`
  }
  const wrong = sshKeys.find((key) => !SSH_KEY.test(key))
  return wrong === undefined ? undefined : 'an SSH key must be one line as in a .pub file'
}

/** The valid host name nearest to a name. */
export const hostnameOf = (name: string): string =>
  name
    .replaceAll(/[^A-Za-z0-9-]+/g, '-')
    .slice(0, 63)
    .replaceAll(/^-+|-+$/g, '') || 'vm'
