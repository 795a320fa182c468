/**
 * The rules for names. Each function returns why a text is invalid, or undefined if it is valid,
 * because this package does not depend on faults.
 */
export const ID_PATTERN = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/
export const GUEST_PATH_PATTERN = /^[A-Za-z0-9_.-]{1,64}$/
export const SNAPSHOT_PATTERN = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/
/** Valid as the name of a network interface, without characters that are special in a shell or a path. */
export const BRIDGE_PATTERN = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,14}$/
export const NAME_LENGTH_MAX = 128
export const TAG_LENGTH_MAX = 1024

/** Path segments of the local API: a VM with such an id could not be addressed. */
export const reservedIds = ['power', 'folders', 'ipaddress'] as const

// Control characters, and characters that XML 1.0 cannot represent: a name becomes part of a domain definition.
// oxlint-disable-next-line no-control-regex
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\ufffe\uffff]|\p{Surrogate}/u

export function whyNotId(id: string): string | undefined {
  if (!ID_PATTERN.test(id)) return `an id must match ${ID_PATTERN.source}`
  if ((reservedIds as readonly string[]).includes(id.toLowerCase())) {
    return `an id must not be one of ${reservedIds.join(', ')}`
  }
  return undefined
}

export function whyNotName(name: string): string | undefined {
  const length = Array.from(name).length
  if (length < 1 || length > NAME_LENGTH_MAX) {
    return `a name must have 1 to ${NAME_LENGTH_MAX} characters`
  }
  return UNPRINTABLE.test(name) ? 'a name must not contain control characters' : undefined
}

export function whyNotTag(tag: string): string | undefined {
  if (Array.from(tag).length > TAG_LENGTH_MAX) {
    return `a tag must have at most ${TAG_LENGTH_MAX} characters`
  }
  return /\p{Surrogate}/u.test(tag) ? 'a tag must be well-formed Unicode' : undefined
}

export function whyNotGuestPath(guestPath: string): string | undefined {
  if (!GUEST_PATH_PATTERN.test(guestPath) || guestPath === '.' || guestPath === '..') {
    return `a guestPath must match ${GUEST_PATH_PATTERN.source} and not be . or ..`
  }
  return undefined
}

export function whyNotBridge(bridge: string): string | undefined {
  return BRIDGE_PATTERN.test(bridge)
    ? undefined
    : `a bridge name must match ${BRIDGE_PATTERN.source}`
}

export function whyNotSnapshotName(name: string): string | undefined {
  return SNAPSHOT_PATTERN.test(name)
    ? undefined
    : `a snapshot name must match ${SNAPSHOT_PATTERN.source}`
}
