import type { Cloud } from '@skerry/cloud-client'

import type { Profile } from '../profiles/profiles.ts'

/** A session with a cloud as the user of the profile, and the clock for waiting. */
export interface CloudSession {
  /** The profile's name. */
  readonly name: string
  readonly profile: Profile
  readonly cloud: Cloud
  readonly now: () => number
  readonly wait: (ms: number) => Promise<void>
  readonly onInterrupt: (hear: () => void) => () => void
}
