/** What a VM or a vApp is, in the words that VMs of this machine have, by those of a cloud. */
export const stateWords: Readonly<Record<string, string>> = {
  POWERED_ON: 'powered on',
  POWERED_OFF: 'powered off',
  SUSPENDED: 'suspended',
  UNRESOLVED: 'being made',
  RESOLVED: 'empty',
  FAILED_CREATION: 'never made',
  UNKNOWN: 'unknown',
  MISSING: 'missing',
  LOST: 'lost',
  INCONSISTENT_STATE: 'missing or lost',
  MIXED: 'mixed',
}

export const stateWord = (status: string): string => stateWords[status] ?? status

/** The cloud's word; one that is none of ours is left as it is, and the cloud says what it takes. */
export const statusOf = (state: string): string =>
  Object.entries(stateWords).find(([, word]) => word === state)?.[0] ?? state
