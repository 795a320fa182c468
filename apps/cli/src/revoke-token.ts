import { cloudByToken, logOut, NoAnswer } from '@skerry/cloud-client'
import { Fault } from '@skerry/fault'

import type { Profile } from './profiles.ts'

/** It is worth nothing now; the cloud did not answer; or it is somebody else's to revoke, who made it for a script. */
export type Revoked = 'revoked' | 'away' | 'kept'

const worthless = new Set(['unauthenticated', 'not-found', 'gone'])

/** Whoever has the file of profiles from an old backup shall not get in by it. A cloud that is away keeps nobody from leaving. */
export async function revokeToken(profile: Profile): Promise<Revoked> {
  const cloud = cloudByToken(profile, profile.token)
  try {
    if (profile.tokenHref === undefined) await logOut(cloud)
    else await cloud.act('DELETE', profile.tokenHref)
    return 'revoked'
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    if (worthless.has(error.kind)) return 'revoked'
    return error instanceof NoAnswer || error.kind === 'unavailable' ? 'away' : 'kept'
  }
}
