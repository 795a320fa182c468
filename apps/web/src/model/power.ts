// The power state of a VM or vApp. Documents give it as a number, the query service as a word.

export const powerStates = [
  'on',
  'off',
  'suspended',
  'paused',
  'unknown',
  'creating',
  'failed',
  'mixed',
] as const
export type DisplayedPower = (typeof powerStates)[number]

const byWord: Readonly<Record<string, DisplayedPower>> = {
  POWERED_ON: 'on',
  POWERED_OFF: 'off',
  SUSPENDED: 'suspended',
  UNKNOWN: 'unknown',
  UNRESOLVED: 'creating',
  RESOLVED: 'off',
  FAILED_CREATION: 'failed',
  MISSING: 'unknown',
  LOST: 'failed',
  MIXED: 'mixed',
}

const byNumber: Readonly<Record<number, DisplayedPower>> = {
  [-1]: 'failed',
  0: 'creating',
  1: 'off',
  3: 'suspended',
  4: 'on',
  6: 'unknown',
  8: 'off',
  9: 'unknown',
  10: 'mixed',
}

export const powerOfWord = (word: string): DisplayedPower => byWord[word] ?? 'unknown'
export const powerOfNumber = (status: number): DisplayedPower => byNumber[status] ?? 'unknown'

/** The word of the query service that a filter by this state compares with. */
export const statusWord: Readonly<Partial<Record<DisplayedPower, string>>> = {
  on: 'POWERED_ON',
  off: 'POWERED_OFF',
  suspended: 'SUSPENDED',
  unknown: 'UNKNOWN',
  creating: 'UNRESOLVED',
}

/** 'it is POWERED_OFF' → 'it is off': messages of the API in the words of the pages. */
export const withPlainStates = (message: string): string =>
  message.replaceAll(
    /\b(?:POWERED_ON|POWERED_OFF|SUSPENDED|UNKNOWN|UNRESOLVED|RESOLVED|MISSING|LOST|MIXED)\b/g,
    (word) => byWord[word] ?? word,
  )
