import type { Cloud } from '@skerry/cloud-client'

import type { World } from './command.ts'
import { Failure } from './failure.ts'
import type { Profile } from './profiles.ts'

/** A cloud as the profile's user sees it, and how time passes while one waits for it. */
export interface CloudSide {
  /** The profile's name. */
  readonly name: string
  readonly profile: Profile
  readonly cloud: Cloud
  readonly now: () => number
  readonly wait: (ms: number) => Promise<void>
  readonly onInterrupt: World['onInterrupt']
}

/** Of a command that asks a cloud: it runs nowhere else. */
export function sideIn({ cloud }: Pick<World, 'cloud'>): CloudSide {
  if (cloud) return cloud
  throw new Failure('refused', 'no cloud is chosen', { hint: '--on NAME, one of skerry profiles' })
}
