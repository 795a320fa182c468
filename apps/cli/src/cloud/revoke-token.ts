import { cloudByToken, logOut, NoAnswer } from '@skerry/cloud-client'
import { Fault } from '@skerry/fault'

import type { Profile } from '../profiles/profiles.ts'

/** Revoked; the cloud did not respond; or kept, because another session created it for a script. */
export type Revoked = 'revoked' | 'away' | 'kept'

const worthless = new Set(['unauthenticated', 'not-found', 'gone'])

/** Revokes the token, so that an old backup of the profile file is useless. An unreachable cloud does not prevent a logout. */
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
