/** vmd's words for the states of VMs and vApps, by the status of a cloud. */
export const stateWords: Readonly<Record<string, string>> = {
  POWERED_ON: 'powered on',
  POWERED_OFF: 'powered off',
  SUSPENDED: 'suspended',
  UNRESOLVED: 'being created',
  RESOLVED: 'empty',
  FAILED_CREATION: 'creation failed',
  UNKNOWN: 'unknown',
  MISSING: 'missing',
  LOST: 'lost',
  INCONSISTENT_STATE: 'missing or lost',
  MIXED: 'mixed',
}

export const stateWord = (status: string): string => stateWords[status] ?? status

/** The status of a cloud for a state; an unknown one is passed on, and the cloud lists the valid ones. */
export const statusOf = (state: string): string =>
  Object.entries(stateWords).find(([, word]) => word === state)?.[0] ?? state
